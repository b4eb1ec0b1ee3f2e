"""Plain data shared by all layers."""
