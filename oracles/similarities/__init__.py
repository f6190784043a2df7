"""How similar two lists are, in [0, 1]."""
