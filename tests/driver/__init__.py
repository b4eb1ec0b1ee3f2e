"""The driver: files, project, cache, schedule, selection, suppression, runs."""
