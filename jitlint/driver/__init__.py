"""Files, cache, schedule, selection, suppression."""
