"""What takes too long for the tests: speed against reference packages, and error rates."""
