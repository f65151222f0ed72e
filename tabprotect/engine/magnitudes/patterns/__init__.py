"""Which sums are hidden, and who was tried against it."""
