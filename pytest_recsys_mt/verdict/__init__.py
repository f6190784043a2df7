"""The verdict on a promise, the answers that an oracle judges,
its words, and the thresholds of suites.
"""
