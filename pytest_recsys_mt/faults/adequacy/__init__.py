"""The share of faults that a suite finds: the user's tests on
the user's recommender with planted faults.
"""
