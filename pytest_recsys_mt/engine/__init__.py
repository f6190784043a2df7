"""Turns data and transformations into answers of both
sides, and holds the state of a run.
"""
