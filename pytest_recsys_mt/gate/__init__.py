"""The release gate: a policy, a comparison with an earlier record, and what they say together."""
