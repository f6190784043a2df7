"""LRWorld: what a language model knows about association, about people's taste, and about items."""
