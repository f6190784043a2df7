"""The page of an arena: figures 3, 4 and 6 of "RecSys Arena", from a record."""
