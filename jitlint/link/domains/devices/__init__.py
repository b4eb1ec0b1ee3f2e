"""What each device computes of its own share, and what all of them have to agree on."""
