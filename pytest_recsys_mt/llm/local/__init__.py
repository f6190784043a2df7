"""Language models on this machine, with transformers."""
