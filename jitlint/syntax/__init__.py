"""Source text to IR: the only home of libcst."""
