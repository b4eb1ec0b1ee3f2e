"""Which PRNG keys are consumed, and whether they were before."""
