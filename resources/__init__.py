"""Icons, themes, examples and documents that the program ships."""
