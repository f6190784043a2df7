"""What a recommender learns must not depend on what its training data do not say."""
