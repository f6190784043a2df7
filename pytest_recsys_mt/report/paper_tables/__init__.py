"""The tables of the papers, filled from the records of runs."""
