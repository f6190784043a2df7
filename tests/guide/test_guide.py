"""The quickstart and every how-to run as their pages say."""

import pytest

from tests.guide.worlds import WORLDS, nothing
from tests.journeys.pages import DOCS, Command, Journey, steps_of

FILES = ("github-action",)
"""Pages that show files and no command; tests/ci runs those."""
PAGES = [
    "quickstart",
    *sorted(
        f"how-to/{page.stem}" for page in (DOCS / "how-to").glob("*.md") if page.stem not in FILES
    ),
]

LONG = ("how-to/two-dollars", "how-to/choose-tests")


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.slow if page in LONG else ()) for page in PAGES]
)
def test_a_page_goes_as_it_says(page: str, journey: Journey) -> None:
    folder, _, name = page.rpartition("/")
    with WORLDS.get(name, nothing)(journey):
        journey.follow(name, folder)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_shows_what_it_prints(page: str) -> None:
    commands = [step for step in steps_of(DOCS / f"{page}.md") if isinstance(step, Command)]
    assert any("pytest " in command.text for command in commands)
    for command in commands:
        quiet = command.text.startswith(("sed -i ", "printf "))
        assert quiet or [line for line in command.printed if line != "..."], command.text
