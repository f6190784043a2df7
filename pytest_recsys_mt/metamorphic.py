"""The `@metamorphic` decorator."""


def metamorphic(*transformations: object) -> object:
    """Placeholder until the plugin is written."""
    raise NotImplementedError
