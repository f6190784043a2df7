"""What a suite would catch: the user's own tests, on the
user's own recommender with planted faults.
"""
