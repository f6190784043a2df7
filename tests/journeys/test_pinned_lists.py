"""Pinned lists: written, reviewed, added to by hand, broken, and written anew."""

import pytest

from tests.journeys.pages import Journey


@pytest.mark.slow
def test_pinned_lists(journey: Journey) -> None:
    journey.follow("pinned-lists")
    pinned, before = (
        (journey.folder / f"{name}.toml").read_text() for name in ("pinned", "before")
    )
    assert pinned.count("[users.") == before.count("[users.") == 11
    assert pinned.endswith('[users.u001]  # complained in May\nexcludes = ["m012"]\n\n')
    changed = set(pinned.splitlines()) ^ set(before.splitlines())
    assert changed
    assert all(line.startswith('    "m') for line in changed), (
        "but for items, all stayed as it was"
    )
