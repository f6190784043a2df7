"""A leaderboard of several models from their records:
`boards_of`, and the formats it is written in.
"""
