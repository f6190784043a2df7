"""Pinned lists: what a file says that the lists of some
users must have, and how the file is written.
"""
