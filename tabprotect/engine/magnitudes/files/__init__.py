"""Tables of sums in files: their own, and those of tau-ARGUS."""
