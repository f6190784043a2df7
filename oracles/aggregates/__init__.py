"""A number for all users' answers together."""
