"""A list is complete with the line of its k-th entry."""

import pytest

from tests.extras import need

need("transformers", "torch")

from tests.support.llm_local_extras import is_listed


@pytest.mark.parametrize(
    ("text", "k", "listed"),
    [
        ("1. Heat\n2. Up\n", 2, True),
        ("1. Heat\n2. Up", 2, False),
        ("1. Heat\n2. Up\n3. Fa", 2, True),
        ("Sure, here are 2:\n\n1. Heat\n", 2, False),
        ("- Heat\n- Up\n", 2, True),
        ("1. **Heat**\n   - a robbery\n   - a chase\n", 2, False),
        ("Heat\nUp\n", 2, False),
        ("1. Heat 2. Up 3. Fargo\n", 3, True),
        ("<think>\n1. They like crime\n2. and fun\n", 2, False),
        ("<think>\n1. They like crime\n2. and fun\n</think>\n1. Heat\n", 2, False),
        ("I cannot help with that.\n", 1, False),
    ],
)
def test_entries_count_once_their_line_has_ended(
    text: str,
    k: int,
    listed: bool,
) -> None:
    assert is_listed(text, k) is listed
