"""How popular a recommender's answers are, against what its users watch."""
