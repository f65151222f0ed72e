"""What the methods for sums do: noise before tabulation, cell keys, and their parameters."""
