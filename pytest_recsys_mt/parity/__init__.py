"""The command `recsys-mt parity`: two recommenders that
should be one, or two logs of their answers.
"""
