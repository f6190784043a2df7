"""A record with a wrong value anywhere is shown, or refused in a line: no command that
reads one ends in a traceback.
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import PolicyError
from tests.report.test_leaderboard import measured, record
from tests.support.cli import main
from tests.support.gate import read

WRONG: tuple[Any, ...] = (
    None,
    -1,
    1e308,
    10**400,
    "x" * 500,
    "",
    [],
    {},
    [[]],
    {"a": 1},
    [None],
    True,
    float("nan"),
)
COMMANDS = (
    ("report", "-o", "out.html"),
    ("leaderboard",),
    ("leaderboard", "-o", "out.html"),
    ("paper", "metamorphic"),
    ("paper", "arena"),
    ("paper", "lrworld", "-o", "out.html"),
    ("answers",),
    ("monitor",),
    ("comment",),
    ("view", "-o", "out.html"),
    ("compare",),
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each part of a record; of a list, to its first ones."""
    if at:
        yield at
    parts = value.items() if isinstance(value, dict) else enumerate(value[:3])
    for key, part in parts:
        if isinstance(part, dict | list):
            yield from places(part, (*at, key))
        else:
            yield (*at, key)


def changed(sound: Any, way: tuple[Any, ...], value: Any) -> Any:
    found = copy.deepcopy(sound)
    inner = found
    for key in way[:-1]:
        inner = inner[key]
    if value == "gone":
        del inner[way[-1]]
    else:
        inner[way[-1]] = value
    return found


@pytest.mark.filterwarnings("ignore:overflow encountered")  # a margin of 1e308
@pytest.mark.parametrize(
    "draws",
    [25, pytest.param(3000, marks=pytest.mark.slow)],
    ids=["some", "many"],
)
@pytest.mark.parametrize("kind", ["of a run", "of a board"])
def test_no_wrong_value_ends_in_a_traceback(
    kind: str,
    draws: int,
    default_record: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    sound = json.loads(default_record.read_text())
    if kind == "of a board":
        sound = record(*(measured(f"m{n}", [n / 9, 0.5, 1.0]) for n in range(3)))
    rng = random.Random(7)
    ways = list(places(sound))
    path = tmp_path / "r.json"
    wrong = []
    for _ in range(draws):
        way, value = rng.choice(ways), rng.choice((*WRONG, "gone"))
        path.write_text(json.dumps(changed(sound, way, value)))
        command = rng.choice(COMMANDS)
        try:
            assert main([*command, str(path)]) in (0, 1, 2)
            with contextlib.suppress(PolicyError):
                read(path)
        except Exception as error:  # noqa: BLE001 - all are told together
            wrong.append(f"{command} with {way} = {str(value)[:40]!r}: {error!r}")
        if len(capsys.readouterr().err) > 3000:
            wrong.append(f"{command} with {way} = {str(value)[:40]!r}: a long text")
    assert not wrong, "\n".join(wrong)
