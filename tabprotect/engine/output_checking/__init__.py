"""Output checking: rules flag cells of a table, a person decides on each, a file keeps both."""
