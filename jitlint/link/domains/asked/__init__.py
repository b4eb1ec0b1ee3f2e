"""What values there are where somebody asks."""
