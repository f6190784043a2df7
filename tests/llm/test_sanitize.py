"""Text of models is harmless before anything prints, stores or parses it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.safety import one_line, sanitize


@pytest.mark.parametrize(
    ("wild", "tame"),
    [
        ("\x1b[1;31mHeat\x1b[0m", "Heat"),
        ("\x9b31mHeat", "Heat"),
        ("\x1b]0;owned\x07Heat", "Heat"),
        ("\x1b]8;;http://x\x1b\\Heat\x1b]8;;\x1b\\", "Heat"),
        ("\x1bPq#0\x1b\\Heat", "Heat"),
        ("\x1bcHeat\x1b", "Heat"),
        ("Heat\x1b (1995)", "Heat (1995)"),
        ("Heat\x1b]0; (1995)", "Heat0; (1995)"),
        ("Heat\x1b(B", "Heat"),
        ("::error::Heat\n  ::add-mask::at", ": :error::Heat\n  : :add-mask::at"),
        ("Heat ##[error]at :\u200b:error::", "Heat # #[error]at : :error::"),
        ("##vso[task.a]b ##teamcity[c ha", "# #vso[task.a]b # #teamcity[c ha"),
        (
            "--- a\n+++ b\n^^^ +++\n~~~ c --- d",
            "- -- a\n+ ++ b\n^ ^^ +++\n~ ~~ c - -- d",
        ),
        (
            "section_start:1:a\r\x1b[0Kb\x1b[8mha:////4AA\x1b[0m\x1b_bk;t=1\x07",
            "section_start:1:a\nbha:////4AA",
        ),
        ("tests/test_shop.py::test_a[x::y]", "tests/test_shop.py::test_a[x::y]"),
        ("He\u202eat\u2066", "Heat"),
        ("He\ud800at", "Heat"),
        ("He\ufffeat\uffff", "Heat"),  # which no XML may hold
        ("H\U000e0041eat", "Heat"),
        ("a\r\nb\rc\u2028d\x0be\x85f", "a\nb\nc\nd\ne\nf"),
        ("tab\tstays, नमस्ते and क्‍ष too", "tab\tstays, नमस्ते and क्‍ष too"),
    ],
)
def test_control_text_is_taken_off(wild: str, tame: str) -> None:
    assert sanitize(wild) == tame


@given(st.text(st.characters(categories=("L", "N", "P", "S", "Z", "C")), max_size=200))
def test_nothing_dangerous_is_left_and_once_is_enough(text: str) -> None:
    clean = sanitize(text)
    assert sanitize(clean) == clean
    clean.encode("utf-8")
    assert not any(
        unicodedata.category(c) in ("Cc", "Cs") for c in clean if c not in "\n\t"
    )
    assert "\n" not in one_line(text)
