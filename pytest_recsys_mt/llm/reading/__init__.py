"""Finds the items that the text of an answer names."""
