"""`recsys-mt write`: the few tests that matter for a recommender, as a file to own."""
