"""Calls: what is asked of a recommender, sent once, cached, limited and priced."""
