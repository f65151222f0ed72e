"""The lattice of sub-tables, drawn: nodes, frontiers, matrices, bars and graphs."""
