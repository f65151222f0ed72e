"""The pages of the window, one per stage of the river."""
