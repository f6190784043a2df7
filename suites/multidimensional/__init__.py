"""Utility and what lies beyond it: novelty, history length, position, generation, hallucination."""
