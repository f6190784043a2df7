"""The command `recsys-mt parity`, and the tests that it runs."""
