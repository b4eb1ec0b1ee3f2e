"""Each domain by itself: what it says of small programs, how sure, and because of which steps."""
