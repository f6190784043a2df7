"""The pages of `docs/papers` are what their commands print."""

import pytest

from benchmarks.papers import PAGES, PAPERS, page


@pytest.mark.slow  # whole protocols of papers: a minute each
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", PAPERS)
def test_a_page_is_what_its_commands_print(name: str) -> None:
    assert (PAGES / f"{name}.md").read_text(encoding="utf-8") == page(name)
