"""What tests use of `safety`."""

from pytest_recsys_mt.safety import files, redaction
from pytest_recsys_mt.safety.files import appended_to, cache_folder_for, require_own
from pytest_recsys_mt.safety.keys import keys_of
from pytest_recsys_mt.safety.numbers import Numbers, Packer, names_in_both, numbers_of
from pytest_recsys_mt.safety.raised import traceback_of
from pytest_recsys_mt.safety.redaction import (
    AUTHORIZATION,
    KEY,
    carries_key,
    redact,
    shortened,
    shown,
    without_keys,
)
from pytest_recsys_mt.safety.sanitize import (
    _COMMAND,
    _ESCAPE,
    _INVISIBLE,
    _LINE_BREAKS,
    clean,
    one_line,
    sanitize,
    slug,
    without_controls,
)

__all__ = [
    "AUTHORIZATION",
    "KEY",
    "_COMMAND",
    "_ESCAPE",
    "_INVISIBLE",
    "_LINE_BREAKS",
    "Numbers",
    "Packer",
    "appended_to",
    "cache_folder_for",
    "carries_key",
    "clean",
    "files",
    "keys_of",
    "names_in_both",
    "numbers_of",
    "one_line",
    "redact",
    "redaction",
    "require_own",
    "sanitize",
    "shortened",
    "shown",
    "slug",
    "traceback_of",
    "without_controls",
    "without_keys",
]
