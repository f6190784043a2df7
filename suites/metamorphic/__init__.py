"""What must not change an answer, and what must."""
