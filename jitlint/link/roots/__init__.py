"""Where execution starts, and why. It may use all rooms but program."""
