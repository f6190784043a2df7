"""Protection against harm by files, by texts of others and by leaked keys."""
