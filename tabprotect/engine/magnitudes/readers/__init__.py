"""What contributors know of sums, and how near they come to each other."""
