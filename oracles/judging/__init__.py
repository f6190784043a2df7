"""From measured effects to a verdict."""
