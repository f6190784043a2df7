"""How popular a recommender's answers are, compared with what its users watch."""
