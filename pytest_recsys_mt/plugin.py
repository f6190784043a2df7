"""Pytest hooks."""
