"""What the program says in other languages: one catalogue for every shell."""
