"""Compares logs of answers of two recommenders to the same requests."""
