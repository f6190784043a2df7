"""What keeps files, texts of others and keys from doing harm."""
