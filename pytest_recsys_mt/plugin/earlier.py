"""What tests came to when they last ran: what was not settled comes first, and the end of a run says what changed."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import pytest

from pytest_recsys_mt.errors import PolicyError
from pytest_recsys_mt.gate.baseline import record_in
from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.nodeids import name_of_row
from pytest_recsys_mt.gate.states import UNSETTLED, grouped, state_of, state_of_test
from pytest_recsys_mt.gate.store import Store, Was
from pytest_recsys_mt.plugin.collection import asks
from pytest_recsys_mt.plugin.items import design_of, parameters_of, recommender_of, relation_of
from pytest_recsys_mt.plugin.state import RECORD, SETTINGS
from pytest_recsys_mt.report.evidence import example_of
from pytest_recsys_mt.safety.sanitize import Safe, one_line

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.recsys import Recsys
    from pytest_recsys_mt.engine.run import Run

KEY = "recsys_mt_unsettled"
MOST = 8
"""Tests, and lines of a changed example, that are told; of more only their number."""
SORTED = ("failedfirst", "newfirst", "stepwise")
"""Options by which users order their tests."""


class Earlier:
    """The kept runs, as the process that keeps this run reads them when its tests are known."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._records: dict[int, Sequence[Row]] = {}
        self.replayed: dict[str, str] = {}

    @cached_property
    def known(self) -> Mapping[str, Was]:
        """What each test came to, by its id; on a worker only where that was not settled."""
        sent = getattr(self._config, "workerinput", {}).get(KEY)
        if sent is not None:
            return {nodeid: Was(*was) for nodeid, was in sent}
        with suppress(OSError, PolicyError):  # a store that cannot be read tells nothing
            return self._store.states(self._config.stash[SETTINGS].data_named)
        return {}

    @cached_property
    def _store(self) -> Store:
        return Store.of(self._config.rootpath)

    def rows(self, nodeid: str) -> Sequence[Row]:
        """The rows of a test in the record of its last run, if it was not settled there."""
        was = self.known.get(nodeid)
        if was is None or was.state not in UNSETTLED:
            return ()
        if was.run not in self._records:
            with suppress(PolicyError):  # it was removed meanwhile, or is damaged
                self._records[was.run] = record_in(self._store.run(was.run).record)["results"]
        return [row for row in self._records.get(was.run, ()) if row["nodeid"] == nodeid]

    def replay(self, item: pytest.Function, recsys: Recsys, run: Run) -> None:
        """Before a recommender is asked anything else, ask it the smallest examples that its tests found when they last
        ran; on a worker, which does not know what it will run, that of `item` alone.
        """
        on_worker, model = hasattr(item.config, "workerinput"), recommender_of(item)
        none = run.settings.mode == "replay" or run.settings.shrink == 0
        if none or not run.begins((KEY, item if on_worker else model)):
            return
        from pytest_recsys_mt.engine.counterexample import answered_as_before
        from pytest_recsys_mt.plugin.ahead import is_skipped

        for other in [item] if on_worker else item.session.items:
            relation = relation_of(other)
            if relation is None or recommender_of(other) != model or is_skipped(other):
                continue
            own = recsys.like(design_of(other, run.settings.design), lambda verdict: verdict)
            found = [shrunk for row in self.rows(other.nodeid) if (shrunk := row["shrunk"])]
            for shrunk in [] if own.design.refits or own.lacks(relation) else found[:1]:
                as_before = answered_as_before(own.run(), own.run(relation), shrunk)
                if as_before is not None:
                    was = self.known[other.nodeid].run
                    how = f"{'as' if as_before else 'otherwise than'} in run {was}"
                    self.replayed[other.nodeid] = f"its smallest example is answered {how}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give each worker what decides the order, which must be the same on all of them."""
        found = [(name, tuple(was)) for name, was in self.known.items() if was.state in UNSETTLED]
        node.workerinput[KEY] = found

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put what was not settled first: of each recommender, and module by module, so that fixtures are made once."""
        if not any(map(asks, items)):
            return
        ranks = {item: self._rank(item) for item in items}  # read before this run is kept
        by_user = any(self._config.getoption(name, False) for name in SORTED)
        if by_user or min(ranks.values()) == len(UNSETTLED):
            return
        models, modules = _first(items, _model), _first(items, lambda item: item.path)
        urgent = dict[Any, int]()
        for item, rank in ranks.items():
            urgent[item.path] = min(rank, urgent.get(item.path, rank))
        items.sort(
            key=lambda it: (models[_model(it)], urgent[it.path], modules[it.path], ranks[it])
        )

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        """Say what was fixed, what still fails and what fails now, since the tests last ran."""
        record = config.stash.get(RECORD, None)
        if record is not None and self.known:
            for line in since(self, record.rows, record.data_digest):
                Safe(terminalreporter).write_line(line)

    def _rank(self, item: pytest.Item) -> int:
        was = self.known.get(item.nodeid)
        if was is None or was.state not in UNSETTLED:
            return len(UNSETTLED)
        return UNSETTLED.index(was.state)


def _model(item: pytest.Item) -> str:
    return str(parameters_of(item).get("recsys_model", ""))


def _first(items: Sequence[pytest.Item], of: Callable[[pytest.Item], Any]) -> dict[Any, int]:
    places: dict[Any, int] = {}
    for place, item in enumerate(items):
        places.setdefault(of(item), place)
    return places


def since(earlier: Earlier, rows: Sequence[Row], digest: str) -> Iterator[str]:
    """What became of tests since they last ran, in lines; none if all is settled, and was. `digest` is of the data."""
    tests = grouped(rows, lambda row: row["nodeid"])
    alike = Counter((own[0]["model"], name_of_row(own[0])) for own in tests.values())
    told: dict[str, list[tuple[str, Sequence[str]]]] = {
        word: [] for word in ("FIXED", "SETTLED", "STILL", "NEW")
    }
    for nodeid, own in tests.items():
        was, now = earlier.known.get(nodeid), state_of_test(own)
        if was is None or now == "not-applicable" or {now, was.state}.isdisjoint(UNSETTLED):
            continue
        row = next(row for row in own if state_of(row) == now)
        name, model = name_of_row(row), row["model"]
        where = f" ({nodeid})" if alike[model, name] > 1 else ""
        text = f"{name} of {model}{where}: {was.state} in run {was.run}, {now} now"
        if digest and was.digest not in ("", digest):
            text += "; the data are others now"
        if now not in UNSETTLED:
            told["SETTLED" if was.state == "inconclusive" else "FIXED"].append((text, ()))
        elif was.state not in UNSETTLED:
            told["NEW"].append((text, ()))
        else:
            changed: Sequence[str] = ()
            with suppress(KeyError, TypeError, ValueError, AttributeError):  # of a damaged record
                changed = _changed(earlier.rows(nodeid), row)
            if not changed and nodeid in earlier.replayed:
                changed = [earlier.replayed[nodeid]]
            told["STILL"].append((text, changed))
    for nodeid in sorted(earlier.replayed.keys() - tests.keys()):
        was = earlier.known[nodeid]
        text = f"{nodeid}: {was.state} in run {was.run}, not judged now"
        told["STILL"].append((text, [earlier.replayed[nodeid]]))
    for word, found in told.items():
        for text, changed in found[:MOST]:
            line = f"{word:5} {one_line(text)}"
            yield from wrap(
                line, 79, subsequent_indent="      ", break_long_words=False, break_on_hyphens=False
            )
            yield from (f"      {line}" for line in changed)
        if len(found) > MOST:
            yield f"{word:5} {len(found) - MOST} more"


def _changed(before: Sequence[Row], row: Row) -> list[str]:
    for old in before:
        shown, now = example_of(old), example_of(row)
        if _about(old) == _about(row) and shown and now:
            lines = list(difflib.unified_diff(shown, now, n=0, lineterm=""))[2:]
            found = [line for line in lines if line[0] in "-+"]
            more = [f"… {len(found) - MOST} more"] * (len(found) > MOST)
            return [*found[:MOST], *more] or ["the same example shows it"]
    return []


def _about(row: Row) -> tuple[str, str, bool]:
    return row["oracle"], row["relation"], row["shrunk"] is not None
