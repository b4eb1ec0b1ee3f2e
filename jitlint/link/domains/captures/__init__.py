"""What traced code reads of the world outside, and who writes it later."""
