"""Models that are trained in the mode for evaluation, or evaluated in the mode for training."""
