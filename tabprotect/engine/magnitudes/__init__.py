"""Tables of sums with their contributors: cells, files, methods, readers, patterns."""
