"""From the text of an answer to the items that it names."""
