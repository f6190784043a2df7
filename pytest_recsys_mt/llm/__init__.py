"""Language models as recommenders: prompts, the models, and the parsing of answers."""
