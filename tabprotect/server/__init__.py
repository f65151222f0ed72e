"""The table server for outside users: a third shell on the engine."""
