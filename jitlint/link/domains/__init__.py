"""One question each, answered beside the values; no domain imports another."""
