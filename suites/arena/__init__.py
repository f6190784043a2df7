"""Which of two recommenders a judge prefers, and whether the judge is reliable."""
