"""The suites: benchmark tasks and relations as tests,
each folder with its own thresholds.
"""
