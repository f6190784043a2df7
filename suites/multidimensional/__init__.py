"""Utility and further dimensions: novelty, history
length, position, generation, hallucination.
"""
