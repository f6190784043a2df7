"""Makes benchmark questions from a dataset: of every kind that its data allow."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.requests.design import generator
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.files import cache_folder_for
from pytest_recsys_mt.suites.lrworld import taste
from pytest_recsys_mt.suites.lrworld.generator_settings import Settings
from pytest_recsys_mt.suites.lrworld.histories import Histories
from pytest_recsys_mt.suites.lrworld.knowledge import knowledge_questions
from pytest_recsys_mt.suites.lrworld.question import (
    KINDS,
    LASTFM,
    MEASURES,
    Kind,
    Question,
    save,
)
from pytest_recsys_mt.suites.lrworld.standing import Behind, Standing
from pytest_recsys_mt.suites.lrworld.wrong_options import Draft, LackingError

if TYPE_CHECKING:
    from pytest_recsys_mt.suites.lrworld.neural import Embeddings


@dataclass(frozen=True)
class Generated:
    """Questions, kind by kind in the order of `KINDS`, and the
    kinds for which the data are insufficient.
    """

    questions: tuple[Question, ...]
    skipped: Mapping[str, str]  # why a kind has no question, by its name
    seed: int = 0
    settings: Mapping[str, Any] = field(
        default_factory=dict,
    )  # and the data, plain JSON

    def save(self, path: Path | str) -> None:
        """Write the questions as lines of JSON; raises as `question.save`."""
        save(self.questions, path, seed=self.seed, settings=self.settings)


def generate(
    dataset: Dataset,
    measures: Collection[str] | None = None,
    *,
    count: int = 100,
    seed: int = 0,
    domain: str | None = None,
    settings: Settings | None = None,
    folder: Path | None = None,
) -> Generated:
    """Make questions of every kind that the data allow.

    Wrong options are drawn uniformly among those that are less right than the right
    one; the places of the right ones are uniform. Each kind has its own generator, so
    its questions do not depend on the other kinds.

    Args:
        dataset: Interactions and a catalogue; `KINDS` lists the attributes of items
            that are read.
        measures: Names of kinds; None for all.
        count: Most questions of each kind.
        seed: Seed of everything random.
        domain: Word for the items in prompts; None derives it from their attributes.
        settings: The settings; None for the defaults.
        folder: Folder of the trained embeddings; None is among the user's caches.

    Raises:
        DataError: If there is no such kind, `count` is below 1, or no item has what
            `Settings.having` names.
        CacheError: If the embeddings cannot be stored.
        RecommenderError: If training them diverges.
    """
    kinds = _kinds(measures)
    if count < 1:
        raise DataError(f"count must be at least 1, got {count!r}")
    domain = domain or domain_of(dataset)
    settings = settings or Settings()
    source = _Source(having(dataset, settings), settings, count, seed, folder)
    questions: list[Question] = []
    skipped: dict[str, str] = {}
    for kind in kinds:
        try:
            drafts = itertools.islice(source.drafts(kind), count)
            made = [source.question(kind, domain, *each) for each in enumerate(drafts)]
        except LackingError as lack:
            skipped[kind.name] = str(lack)
            continue
        questions += made
        if not made:
            skipped[kind.name] = _why_none(kind, settings)
    about = {
        **_about_data(dataset),
        "mean_log_popularity": source.histories.mean_log_popularity,
        "measures": [kind.name for kind in kinds],
        "count": count,
        "domain": domain,
        **dataclasses.asdict(settings),
    }
    return Generated(tuple(questions), skipped, seed, about)


def _about_data(dataset: Dataset) -> dict[str, Any]:
    return {
        "dataset": dataset.name,
        "data": dataset.digest,
        "family": dataset.family,
    }


def _kinds(measures: Collection[str] | None) -> list[Kind]:
    """The kinds of those names, in the order of `KINDS`; None names all."""
    names = set(KINDS) if measures is None else set(measures)
    for name in sorted(names - set(KINDS)):
        raise DataError(
            f"no kind of question is called {name!r}; choose from {list(KINDS)!r}",
        )
    return [kind for name, kind in KINDS.items() if name in names]


def _why_none(kind: Kind, settings: Settings) -> str:
    return (
        f"no target has a right option and {kind.options - 1} wrong ones; it takes items "
        f"with a title, and {settings.least} interactions or more of items and users"
    )


def having(dataset: Dataset, settings: Settings) -> Dataset:
    """The part of the data whose items have all attributes that the settings name;
    `DataError` if none has.
    """
    names = settings.having.split(",") if settings.having else []
    items = {
        key: x for key, x in dataset.items.items() if all(map(x.attributes.get, names))
    }
    if not items:
        known = ", ".join(
            sorted({name for x in dataset.items.values() for name in x.attributes}),
        )
        raise DataError(
            f"having={settings.having!r}: no item of {dataset.name} has all; some have {known}",
        )
    kept = dataset.interactions["item"].isin(items)
    part = dataset.replace(
        interactions=dataset.interactions[kept],
        items=items,
        as_is=False,
    )
    return part if names else dataset


def domain_of(dataset: Dataset) -> str:
    """The word for a dataset's items in prompts: its own, that of its format, or
    derived from attributes.
    """
    if dataset.thing:
        return dataset.thing
    for measure in (*MEASURES, *LASTFM):
        if measure.dataset == dataset.family:
            return measure.domain
    found = {name for item in dataset.items.values() for name in item.attributes}
    if found & {"brand", "colour", "categories"}:
        return "product"
    if found & {"directors", "cast", "genres", "logline"}:
        return "movie"
    return "item"


@dataclass(frozen=True, eq=False)
class _Source:
    dataset: Dataset
    settings: Settings
    count: int
    seed: int
    folder: Path | None

    @cached_property
    def histories(self) -> Histories:
        return Histories.of(self.dataset, self.settings.least)

    @cached_property
    def standing(self) -> Standing:
        return Standing(self.histories)

    def question(self, kind: Kind, domain: str, number: int, draft: Draft) -> Question:
        behind: Behind = draft.pop("behind")
        draft["evidence"] |= {
            "popularities": self.standing.popularities(behind),
            "nearness": self.standing.nearness(behind),
        }
        name = f"{kind.name}-{number:04d}"
        return Question(name, kind.name, kind.scale, kind.factor, domain, **draft)

    @cached_property
    def embeddings(self) -> Embeddings:
        from pytest_recsys_mt.suites.lrworld.neural import Factors, learn

        return learn(
            self.histories,
            Factors(steps=self.settings.steps, users=self.settings.users),
            self.seed,
            self.dataset.digest,
            self.folder or cache_folder_for("models"),
        )

    def drafts(self, kind: Kind) -> Iterator[Draft]:
        """Drafts of one kind, as many as there are; `LackingError`, at once or later,
        if the data lack something.
        """
        rng = generator("lrworld", kind.name, self.seed)
        given = self.histories, kind, self.settings
        match kind.name:
            case "rules":
                return taste.rule_questions(*given, rng)
            case "similar_items":
                return taste.similar_items(*given, self.count, rng)
            case "similar_users":
                return taste.similar_users(*given, self.count, rng)
            case "item_to_users" | "user_to_items":
                try:
                    from pytest_recsys_mt.suites.lrworld import matching
                except ImportError as error:
                    raise LackingError(
                        f"embeddings are trained with PyTorch, which cannot be imported ({error}); "
                        f"pip install 'pytest-recsys-mt[train]'",
                    ) from error
                ask = getattr(matching, kind.name)
                drafts: Iterator[Draft] = ask(*given, self.count, rng, self.embeddings)
                return drafts
            case _:
                return knowledge_questions(*given, rng)
