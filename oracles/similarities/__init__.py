"""How alike two lists are, in [0, 1]."""
