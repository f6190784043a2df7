"""One experiment in other tools: each file runs in an
environment that has its tool alone.
"""
