"""LRWorld: what a language model knows of association, of people's taste, and of items."""
