"""Training must not depend on anything other than the content of the training data."""
