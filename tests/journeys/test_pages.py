"""The pages of docs/journeys and these tests belong
together, and the reader of pages is strict.
"""

import re
import tomllib
from pathlib import Path

import pytest

from tests.journeys.pages import (
    DOCS,
    Command,
    File,
    Journey,
    steps_of,
    stories_of,
    unlike,
)

HERE = Path(__file__).parent
PAGES = sorted(page.stem for page in (DOCS / "journeys").glob("*.md"))


def test_every_story_is_run_by_a_test_and_every_test_runs_a_story() -> None:
    followed = {
        path.name: re.findall(
            r'journey\.follow\("([\w#-]+)"\)',
            path.read_text(encoding="utf-8"),
        )
        for path in HERE.glob("test_*.py")
        if path.name != Path(__file__).name
    }
    stories = [
        name for page in PAGES for name in stories_of(DOCS / "journeys" / f"{page}.md")
    ]
    assert followed == {
        f"test_{name.rpartition('#')[2].replace('-', '_')}.py": [name]
        for name in stories
    }


def test_every_page_is_in_the_navigation_and_on_the_first_page() -> None:
    site = tomllib.loads((DOCS.parent / "zensical.toml").read_text(encoding="utf-8"))
    (section,) = (
        part["Journeys"] for part in site["project"]["nav"] if "Journeys" in part
    )
    assert sorted(section) == [f"journeys/{page}.md" for page in PAGES]
    first = (DOCS / "index.md").read_text(encoding="utf-8")
    assert all(f"(journeys/{page}.md)" in first for page in PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_shows_what_it_prints(page: str) -> None:
    commands = [
        step
        for step in steps_of(DOCS / "journeys" / f"{page}.md")
        if isinstance(step, Command)
    ]
    assert any(re.search(r"pytest |recsys-mt ", command.text) for command in commands)
    for command in commands:
        quiet = command.text.startswith(("sed -i ", "python make_"))
        assert quiet or [line for line in command.printed if line != "..."], (
            command.text
        )


def test_a_page_is_read_as_files_and_commands(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        'Text.\n\n```python title="a.py"\nx = 1\n```\n\n```python\nno = "file"\n```\n\n'
        "```console\n$ one \\\n  two\nprinted\n\n$ echo $?\n0\n```\n",
        encoding="utf-8",
    )
    assert list(steps_of(page)) == [
        File(4, "a.py", "x = 1\n"),
        Command(12, "one \\\n  two", ("printed",)),
        Command(16, "echo $?", ("0",)),
    ]


@pytest.mark.parametrize(
    ("expected", "missing"),
    [
        (["one", "two 2", "=== three ==="], ""),
        (["one", "...", "===== three ====="], ""),
        (["...", "two 2", "..."], ""),
        (["one", "...", "two  ...", "=== three ==="], ""),
        (["one", "...", "two  ...", "== three =="], "two  ...\n== three =="),
        (["...", "one", "...", "two 2", "...", "...three...", "..."], ""),
        (["one", "two", "..."], "one\ntwo"),
        (["two 2", "..."], "two 2"),
        (["...", "two 2"], "two 2"),
        (["...", "...three...", "...", "two 2", "..."], "two 2"),
        (["...", "one ... three", "..."], "one ... three"),
        ([], "the end of what was printed"),
    ],
)
def test_what_is_printed_is_compared_line_by_line(
    expected: list[str],
    missing: str,
) -> None:
    assert unlike(expected, ["one", "", "two   2", "===== three ======  "]) == missing


def test_a_story_that_goes_otherwise_fails(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    journey = Journey(
        tmp_path,
        lambda needs: tmp_path,
    )  # a shell's own commands need no environment
    monkeypatch.setattr("tests.journeys.pages.DOCS", tmp_path)
    (tmp_path / "journeys").mkdir()
    page = tmp_path / "journeys" / "story.md"
    for told, said in (
        (
            "$ echo one\ntwo",
            r"story.md:2: \$ echo one\nprints\none\n\nand not, in its place,\ntwo",
        ),
        ("$ false", r"story.md:2: \$ false\nends with 1"),
        (
            "$ false\n$ echo $?\n0",
            r"story.md:3: \$ echo \$\?\nprints\n1\n\nand not, in its place,\n0",
        ),
    ):
        page.write_text(f"```console\n{told}\n```\n", encoding="utf-8")
        with pytest.raises(AssertionError, match=said):
            journey.follow("story")
    page.write_text(
        "```console\n$ exit 3\n$ echo $?\n3\n$ echo $?\n0\n```\n",
        encoding="utf-8",
    )
    journey.follow("story")
