"""Tables of sums with their contributors: cells, equations, contributions, readers, patterns."""
