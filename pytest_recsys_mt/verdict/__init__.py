"""The verdict on a promise, what an oracle gets to reach one,
its words, and the thresholds of suites.
"""
