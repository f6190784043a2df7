"""A suite: a list should not be of one decade, unless the user asks for that."""
