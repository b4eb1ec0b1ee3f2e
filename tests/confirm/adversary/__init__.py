"""Small programs with findings that are wrong, and with true ones that are hard to prove."""
