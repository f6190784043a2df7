"""A number for one answer."""
