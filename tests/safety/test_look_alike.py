"""A file that a user names and that is missing is answered
with the nearest name and the next step.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_recsys_mt import RecsysError
from tests.support.calls import prices
from tests.support.gate import policy
from tests.support.suites_lrworld import question


@pytest.mark.parametrize(
    ("read", "there", "given", "next_step"),
    [
        (prices.text_of, "prices.toml", "price.toml", "input = 2.5"),
        (
            policy.load,
            "recsys.toml",
            "recys.toml",
            "without it the gate has its usual rules",
        ),
        (question.read_file, "films.jsonl", "film.jsonl", "recsys-mt questions "),
    ],
)
def test_a_missing_file_is_answered_with_the_next_step(
    tmp_path: Path,
    read: Callable[[Path], object],
    there: str,
    given: str,
    next_step: str,
) -> None:
    (tmp_path / there).write_text("")
    with pytest.raises(RecsysError) as error:
        read(tmp_path / given)
    said = str(error.value)
    assert f"{given!r}"[1:] in said
    assert "No such file" in said
    assert f"did you mean {str(tmp_path / there)!r}?" in said
    assert next_step in said


def test_no_name_is_proposed_for_a_file_that_is_there_and_cannot_be_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "prices.toml").mkdir()
    (tmp_path / "price.toml").write_text("")
    with pytest.raises(RecsysError) as error:
        prices.text_of(tmp_path / "prices.toml")
    assert "did you mean" not in str(error.value)
