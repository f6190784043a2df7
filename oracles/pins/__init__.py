"""Pinned lists: the required items of some users' lists by a
file, and how the file is written.
"""
