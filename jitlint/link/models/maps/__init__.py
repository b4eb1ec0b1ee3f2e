"""What maps over a batch or over the devices of a mesh do to the values in them."""
