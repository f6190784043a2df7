"""recbole.quick_start, which runs and loads models, cannot be imported in a fresh installation."""

import sys

print("expected: an import of recbole.quick_start")
try:
    from recbole.quick_start import load_data_and_model
except ModuleNotFoundError as error:
    print(f"seen:     ModuleNotFoundError: {error}")
    sys.exit(1)
print(f"seen:     {load_data_and_model.__name__}")
