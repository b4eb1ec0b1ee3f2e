"""One check as the work of many machines: shares of it, and what they found joined (layer: ``farm``)."""
