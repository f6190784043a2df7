"""The kept runs as a new run uses them: tests that were not settled run first, and
their smallest examples are sent again.

`pytest_recsys_mt.plugin.since` makes the lines on changes, which the end of a run
prints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from pytest_recsys_mt.gate.baseline import record_in
from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.states import UNSETTLED
from pytest_recsys_mt.gate.store import Store, Was
from pytest_recsys_mt.plugin.collection import sends_requests
from pytest_recsys_mt.plugin.items import (
    design_of,
    is_skipped,
    parameters_of,
    recommender_of,
    relation_of,
)
from pytest_recsys_mt.plugin.state import RECORD, SETTINGS
from pytest_recsys_mt.safety.errors import PolicyError
from pytest_recsys_mt.safety.sanitize import Safe

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.recsys import Recsys
    from pytest_recsys_mt.engine.run import Run

KEY = "recsys_mt_unsettled"
SORTED = ("failedfirst", "newfirst", "stepwise")
"""Options by which users order their tests."""


class Earlier:
    """The kept runs, as the process that keeps this run reads them when its tests are
    known.

    Args:
        config: The configuration of this pytest run.

    Attributes:
        replayed: By a test's id, how its smallest example of an earlier run is answered
            now.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._records: dict[int, Sequence[Row]] = {}  # by the number of a kept run
        self.replayed: dict[str, str] = {}

    @property
    def known(self) -> Mapping[str, Was]:
        """The earlier state of each test, by its id."""
        return self._known

    @cached_property
    def _known(self) -> Mapping[str, Was]:
        """The earlier state of each test, by its id; on a worker
        only of tests that were not settled.
        """
        sent = getattr(self._config, "workerinput", {}).get(KEY)
        if sent is not None:
            return {nodeid: Was(*was) for nodeid, was in sent}
        with suppress(
            OSError,
            PolicyError,
        ):  # a run needs no kept runs, so it ignores damaged ones
            settings = self._config.stash[SETTINGS]
            return self._store.states(settings.data_named, settings.against)
        return {}

    @cached_property
    def _store(self) -> Store:
        return Store.of(self._config.rootpath)

    def rows(self, nodeid: str) -> Sequence[Row]:
        """The rows of a test in the record of its last
        run, if it was not settled there.
        """
        was = self.known.get(nodeid)
        if was is None or was.state not in UNSETTLED:
            return ()
        if was.run not in self._records:
            with suppress(
                PolicyError,
            ):  # the record was removed meanwhile, or is damaged
                self._records[was.run] = record_in(self._store.run(was.run).record)[
                    "results"
                ]
        rows_of_run = self._records.get(was.run, ())
        return [row for row in rows_of_run if row["nodeid"] == nodeid]

    def replay(self, item: pytest.Function, recsys: Recsys, run: Run) -> None:
        """Send a recommender the smallest examples that its tests found when they last
        ran.

        This happens once for each recommender, before any other request. A
        worker does not know which tests it will run, so it sends the example of `item`
        alone, for each test.

        Args:
            item: The test that is about to run.
            recsys: The recommender under test.
            run: The run.
        """
        if run.settings.mode == "replay" or run.settings.shrink == 0:
            return
        on_worker = hasattr(item.config, "workerinput")
        model = recommender_of(item)
        once_for = item if on_worker else model
        if not run.begins((KEY, once_for)):
            return
        candidates: Sequence[pytest.Item] = [item] if on_worker else item.session.items
        for candidate in candidates:
            is_relational = relation_of(candidate) is not None
            if (
                is_relational
                and recommender_of(candidate) == model
                and not is_skipped(candidate)
            ):
                self._replay_example(candidate, recsys, run)

    def _replay_example(self, item: pytest.Item, recsys: Recsys, run: Run) -> None:
        examples = [row["shrunk"] for row in self.rows(item.nodeid) if row["shrunk"]]
        if not examples:
            return
        from pytest_recsys_mt.engine.counterexample import answered_as_before

        relation = relation_of(item)
        # Its verdicts are dropped: they belong to no test that runs now.
        recsys_of_item = recsys.like(
            design_of(item, run.settings.design),
            report=lambda verdict: verdict,
        )
        if recsys_of_item.design.refits or recsys_of_item.lacks(relation):
            return
        as_before = answered_as_before(
            recsys_of_item.run(),
            recsys_of_item.run(relation),
            examples[0],
        )
        if as_before is None:
            return
        how = "as" if as_before else "otherwise than"
        run_number = self.known[item.nodeid].run
        self.replayed[item.nodeid] = (
            f"its smallest example is answered {how} in run {run_number}"
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send each worker the states that decide the order,
        which must be the same on all of them.
        """
        unsettled = [
            (nodeid, tuple(was))
            for nodeid, was in self.known.items()
            if was.state in UNSETTLED
        ]
        node.workerinput[KEY] = unsettled

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Move the tests that were not settled to the front, within each recommender.

        Tests of one module stay together, so that its fixtures are set up once.
        """
        if not any(sends_requests(item) for item in items):
            return
        ranks = {
            item: self._rank(item) for item in items
        }  # read before this run is kept
        sorted_by_user = any(self._config.getoption(name, False) for name in SORTED)
        all_settled = min(ranks.values()) == len(UNSETTLED)
        if sorted_by_user or all_settled:
            return
        model_places = _first_places(items, _model)
        module_places = _first_places(items, lambda item: item.path)
        module_ranks: dict[Any, int] = {}
        for item, rank in ranks.items():
            module_ranks[item.path] = min(rank, module_ranks.get(item.path, rank))

        def order(item: pytest.Item) -> tuple[int, int, int, int]:
            return (
                model_places[_model(item)],
                module_ranks[item.path],
                module_places[item.path],
                ranks[item],
            )

        items.sort(key=order)

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(
        self,
        terminalreporter: Any,
        config: pytest.Config,
    ) -> None:
        """Print the tests that are fixed, that still fail and
        that fail now, since they last ran.
        """
        record = config.stash.get(RECORD, None)
        if record is None or not self.known:
            return
        # Runs without recommenders have kept runs beside them, too.
        from pytest_recsys_mt.plugin.since import since

        for line in since(self, record.rows, record.data_digest):
            Safe(terminalreporter).write_line(line)

    def _rank(self, item: pytest.Item) -> int:
        """The place of a test's earlier state among those that are
        not settled; settled tests come last.
        """
        was = self.known.get(item.nodeid)
        if was is None or was.state not in UNSETTLED:
            return len(UNSETTLED)
        return UNSETTLED.index(was.state)


def _model(item: pytest.Item) -> str:
    return str(parameters_of(item).get("recsys_model", ""))


def _first_places(
    items: Sequence[pytest.Item],
    group_of: Callable[[pytest.Item], Any],
) -> dict[Any, int]:
    """The place of the first item of each group."""
    places: dict[Any, int] = {}
    for place, item in enumerate(items):
        places.setdefault(group_of(item), place)
    return places
