"""The page of promises: its files are written, its commands
run as they stand, and print what it says.
"""

import re

import pytest

from tests.journeys.pages import DOCS, File, Journey, steps_of

PAGE = DOCS / "measured" / "promised.md"
COMMAND = re.compile(r"`((?:pytest|recsys-mt) [^`]+)`")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" |")]
    for line in PAGE.read_text(encoding="utf-8")
    .partition("## Libraries")[0]
    .splitlines()
    if line.startswith("| ") and not line.rstrip(" |").endswith(("prints", "shown by"))
]


def needed(cell: str) -> bool:
    """Whether what stands before the command says what it needs."""
    return cell.startswith("needs ")


def test_every_promise_has_a_way_to_see_it() -> None:
    assert len(ROWS) > 25
    for *_, shown, printed in ROWS:
        assert COMMAND.search(shown) or "](" in shown, shown
        alone = needed(shown) or not COMMAND.search(shown)
        assert bool(printed) != alone, shown
        assert needed(shown) == (
            ("gpt-4o" in shown and "--recsys-plan" not in shown) or "hf:" in shown
        )


@pytest.mark.slow  # a minute and a half: most suites, one after the other
def test_every_command_shows_its_promise(journey: Journey) -> None:
    for step in steps_of(PAGE):
        assert isinstance(step, File)
        (journey.folder / step.name).write_text(step.text, encoding="utf-8")
    for *_, shown, printed in ROWS:
        if not printed:
            continue
        # "X after Y" names the second command first.
        said = ""
        for command in reversed(COMMAND.findall(shown)):
            done = journey.run(command)
            assert done.returncode in (0, 1), f"{command}\n{done.stdout}"
            said = " ".join(done.stdout.split())
            assert "INTERNALERROR" not in said
        assert printed.strip("`") in said, f"{shown} does not print {printed}:\n{said}"
