"""Keys that are known by their form alone, whatever the environment holds: what is sent
to a service that others read is searched for them too.
"""

import re
from collections.abc import Mapping
from typing import Any

MARK = "[key]"
"""What stands in place of such a key."""

_BEGINS = r"(?:(?<![A-Za-z0-9])|(?<=[-%][0-9A-Fa-f]{2})|(?<=\\[nrt]))"
"""Where a key may begin: not within a word, unless what precedes is an escape, as
``%20`` or its form in the name of a test, ``-20``.
"""

_FORMS = re.compile(
    rf"{_BEGINS}(?:"
    r"sk-[A-Za-z0-9_-]{16,}"
    r"|gh[oprsu]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}"
    r"|Bearer(?: |%20)+[A-Za-z0-9._~+/=-]{16,})"
)

_FORMS_IN_BYTES = re.compile(_FORMS.pattern.encode())


def without_forms(text: str) -> str:
    """`text` without keys of the common forms ``sk-...``, ``ghp_...``, ``Bearer ...``."""
    return _FORMS.sub(MARK, text)


def bytes_without_forms(data: bytes) -> bytes:
    """As `without_forms`, for bytes that may not be text."""
    return _FORMS_IN_BYTES.sub(MARK.encode(), data)


def data_without_forms(value: Any) -> Any:
    """Plain data with `without_forms` for all its texts."""
    match value:
        case str():
            return without_forms(value)
        case Mapping():
            return {
                data_without_forms(key): data_without_forms(each)
                for key, each in value.items()
            }
        case list() | tuple():
            return [data_without_forms(each) for each in value]
    return value
