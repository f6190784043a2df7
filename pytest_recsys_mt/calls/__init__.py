"""Calls to recommenders: sent once, cached, limited and priced."""
