"""What traced code does besides computing."""
