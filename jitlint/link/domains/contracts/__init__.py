"""What objects of libraries ask of those who call their methods."""
