"""The README, the quickstart and every how-to run as their pages say."""

import pytest

from tests.guide.__main__ import PAGES, follow
from tests.journeys.pages import DOCS, Command, Journey, steps_of


@pytest.mark.slow  # .ci/users follows the pages
@pytest.mark.parametrize(("room", "name"), PAGES)
def test_a_page_goes_as_it_says(room: str, name: str, journey: Journey) -> None:
    follow(room, name, journey)


@pytest.mark.parametrize(("room", "name"), PAGES)
def test_every_command_of_a_page_shows_what_it_prints(room: str, name: str) -> None:
    steps = steps_of(DOCS / room / f"{name}.md")
    commands = [step for step in steps if isinstance(step, Command)]
    assert any("pytest " in command.text for command in commands)
    for command in commands:
        quiet = command.text.startswith(("sed -i ", "printf "))
        assert quiet or [line for line in command.printed if line != "..."], (
            command.text
        )
