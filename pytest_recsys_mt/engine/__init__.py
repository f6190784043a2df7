"""From data and transformations to answers of both sides, and the state of a run."""
