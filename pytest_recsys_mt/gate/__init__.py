"""The release gate: a policy, a comparison with an
earlier record, and the result of both.
"""
