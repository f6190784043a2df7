"""Checks generated questions of LRWorld by another computation, in pandas, from the
data alone.

    python -m benchmarks.lrworld_questions [--data mini PATH ...] [--count 200] [--seed
    0] [--baselines]

makes questions of every kind from the embedded data, from each PATH, and from made-up
data in the formats of Amazon, Netflix and Last.fm, by both ways of drawing wrong
options. The made-up data have equal titles in several spellings, products that share a
picture, missing facts, and titles in other scripts. Nothing of the generator is used to
check: the right option must be right, each wrong one wrong, and no two may read alike.
For the two kinds on embeddings, which no other computation can repeat, it checks what
the options stand for: that they are new to the user, or do not show the item. It ends
with 1 if a question is wrong. With ``--baselines`` it prints what simple ways to answer
reach on the questions of the named data instead.
"""

import argparse
import json
import math
import re
import sys
import tempfile
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.lrworld_worlds import WORLDS
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.suites.lrworld import (
    BASELINES,
    Question,
    Settings,
    baselines,
    generate,
)

LEAST, SHARE, SHOWN, EPSILON = 5, 0.01, 5, 1e-9
FACTS = {
    "cast": "cast",
    "director": "directors",
    "brand": "brand",
    "genre": "genres",
    "colour": "colour",
    "leaf": "categories",
    "intermediate": "categories",
    "root": "categories",
}
SENTENCES = {"logline": "logline", "image": "image_description", "next_item": ""}


def plain(text: str) -> str:
    """Letters, digits and signs of vowels in lower case,
    without accents and with the article first.
    """
    text = re.sub(r"^(.*), (The|A|An)(?=$| \()", r"\2 \1", text.strip())
    folded = unicodedata.normalize("NFKC", text).casefold().replace("&", "and")
    split = unicodedata.normalize("NFD", folded)
    kept = "".join(c for c in split if not "\u0300" <= c <= "\u036f")
    letters = "".join(
        c
        for c in unicodedata.normalize("NFC", kept)
        if unicodedata.category(c)[0] in "LNM"
    )
    return letters or "".join(folded.split())


def values(value: Any) -> list[str]:
    """What an attribute says."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [json.dumps(dict(value), ensure_ascii=False)]
    found = [value] if isinstance(value, str) else list(value)
    return [str(one).strip() for one in found if str(one).strip()]


class World:
    """The data of a dataset by what a reader sees: labels."""

    def __init__(self, dataset: Dataset) -> None:
        titled = {key: bool(item.title.strip()) for key, item in dataset.items.items()}
        label = {
            key: plain(item.label) if titled[key] else f"\0{key}"
            for key, item in dataset.items.items()
        }
        frame = dataset.interactions.assign(
            label=dataset.interactions["item"].astype(str).map(label),
        )
        frame = frame.drop_duplicates(["user", "label"], keep="last")
        self.sequence: dict[str, list[str]] = {}
        for user, own in frame.groupby("user", observed=True)["label"]:
            self.sequence[str(user)] = list(own)
        self.own = {user: set(labels) for user, labels in self.sequence.items()}
        self.users: dict[str, set[str]] = defaultdict(set)
        for name, who in frame.groupby("label")["user"]:
            self.users[str(name)] = set(map(str, who))
        self.total = frame["user"].nunique()
        self.items: dict[str, list[Any]] = defaultdict(list)
        self.by_text: dict[str, str] = {}
        for key, item in dataset.items.items():
            self.items[label[key]].append(item)
        for name, members in self.items.items():
            hints = [""]
            for item in members:
                hints.append(" ".join(values(item.attributes.get("genres"))))
                hints.append("".join(values(item.attributes.get("categories"))[-1:]))
            for item in members:
                for hint in hints:
                    self.by_text[f"{item.label}, {hint}" if hint else item.label] = name
        self.asked = [
            name
            for name, who in self.users.items()
            if len(who) >= LEAST and name[0] != "\0"
        ]
        self.shown = {
            user: [name for name in labels if name[0] != "\0"]
            for user, labels in self.sequence.items()
        }
        self.latest: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for user, labels in self.shown.items():
            if len(labels) >= LEAST:
                self.latest[tuple(labels[-SHOWN:])].append(user)

    def labels(self, texts: list[str] | tuple[str, ...]) -> tuple[str, ...]:
        """The labels of texts of items."""
        return tuple(self.by_text[text] for text in texts)

    def told(self, name: str, attribute: str) -> list[str]:
        """What any item of a label has as an attribute."""
        return [
            one
            for item in self.items[name]
            for one in values(item.attributes.get(attribute))
        ]


def cosine(one: set[str], other: set[str]) -> float:
    return len(one & other) / math.sqrt(len(one) * len(other)) if one and other else 0.0


def faults(world: World, question: Question) -> Iterator[str]:
    """What is wrong with a question."""
    forms = [plain(option) for option in question.options]
    if len(set(forms)) < len(forms):
        yield "two options read alike"
    kind = question.measure
    wrong = [
        text for place, text in enumerate(question.options) if place != question.answer
    ]
    if kind in FACTS:
        yield from _fact(world, question, wrong)
    elif kind in SENTENCES:
        yield from _next(world, question, wrong)
    else:
        yield from _KINDS[kind](world, question, wrong)


def _rules(world: World, question: Question, wrong: list[str]) -> Iterator[str]:
    given = world.labels(question.shown["target"])
    having = set.intersection(*(world.users[name] for name in given))

    def rule(text: str) -> bool:
        both = len(having & world.users[world.by_text[text]])
        enough = both >= SHARE * world.total * (1 - EPSILON)
        return both > 0 and enough and both >= SHARE * len(having) * (1 - EPSILON)

    if not rule(question.right):
        yield "the right option is in no rule"
    if any(map(rule, wrong)):
        yield "a wrong option is in a rule"
    if set(given) & set(world.labels(question.options)):
        yield "the target is an option"


def _similar_items(world: World, question: Question, wrong: list[str]) -> Iterator[str]:
    target = world.by_text[question.shown["target"]]
    of = world.users[target]
    best = max(cosine(of, world.users[name]) for name in world.asked if name != target)
    if cosine(of, world.users[world.by_text[question.right]]) < best - EPSILON:
        yield "another item is more similar"
    if any(
        cosine(of, world.users[world.by_text[text]]) > best - EPSILON for text in wrong
    ):
        yield "a wrong option is as similar"


def _similar_users(world: World, question: Question, wrong: list[str]) -> Iterator[str]:
    shown = world.labels(question.shown["history"])
    others = [world.latest[world.labels(text.split("; "))] for text in wrong]
    asked = [user for users in world.latest.values() for user in users]
    reasons = []
    for target in world.latest[shown]:
        of = world.own[target]
        best = max(cosine(of, world.own[user]) for user in asked if user != target)
        right = world.latest[world.labels(question.right.split("; "))]
        if all(
            cosine(of, world.own[user]) < best - EPSILON
            for user in right
            if user != target
        ):
            reasons.append("another user is more similar")
        elif any(
            cosine(of, world.own[user]) > best - EPSILON
            for users in others
            for user in users
        ):
            reasons.append("a wrong option is as similar")
        else:
            return
    yield reasons[0] if reasons else "no user has this history"


def _item_to_users(world: World, question: Question, wrong: list[str]) -> Iterator[str]:
    target = world.by_text[question.shown["target"]]
    for option in question.options:
        if target in world.labels(option.split("; ")):
            yield "an option shows the item"
    if question.evidence["best_of_the_rest"] >= question.evidence["right"]:
        yield "a wrong option is as near"


def _user_to_items(world: World, question: Question, wrong: list[str]) -> Iterator[str]:
    users = world.latest[world.labels(question.shown["history"])]
    options = set(world.labels(question.options))
    if not any(options.isdisjoint(world.own[user]) for user in users):
        yield "an option is an item that the user has"
    if question.evidence["best_of_the_rest"] >= question.evidence["right"]:
        yield "a wrong option is as near"


def _fact(world: World, question: Question, wrong: list[str]) -> Iterator[str]:
    target = plain(question.evidence["label"])
    told = world.told(target, FACTS[question.measure])
    true = {plain(one) for one in told}
    # A name may hold a comma, so an option is divided where the data have such names.
    if plain(question.right) not in true and not all(
        plain(name) in true for name in question.right.split(", ")
    ):
        yield "the right option is not true"
    for text in wrong:
        if plain(text) in true or any(plain(name) in true for name in text.split(", ")):
            yield "a wrong option is true"
    if not _preceded(world, target, list(map(plain, question.shown["history"]))):
        yield "no user has this history before the item"


def _preceded(world: World, target: str, history: list[str]) -> list[str]:
    """The users who have a history right before an item."""
    return [
        user
        for user in world.users[target]
        if world.shown[user][: world.shown[user].index(target)][-len(history) :]
        == history
    ]


def _next(world: World, question: Question, wrong: list[str]) -> Iterator[str]:
    attribute = SENTENCES[question.measure]

    def told(name: str) -> set[str]:
        return (
            {plain(one) for one in world.told(name, attribute)} if attribute else {name}
        )

    target, answer = plain(question.evidence["label"]), plain(question.right)
    if answer not in told(target):
        yield "the right option is not true"
    history = [plain(text) for text in question.shown["history"]]
    for user in world.users[target]:
        before = world.shown[user][: world.shown[user].index(target)]
        shown = [told(name) for name in before if told(name)][-len(history) :]
        fits = len(shown) == len(history) and all(
            one in several for one, several in zip(history, shown, strict=True)
        )
        has = {one for name in world.own[user] for one in told(name) if name != target}
        if fits and not has & {plain(text) for text in question.options}:
            return
    yield "an option is of an item that the user has"


_KINDS = {
    "rules": _rules,
    "similar_items": _similar_items,
    "similar_users": _similar_users,
    "item_to_users": _item_to_users,
    "user_to_items": _user_to_items,
}


def check(
    name: str,
    dataset: Dataset,
    count: int,
    seed: int,
    wrong: Any,
) -> Counter[str]:
    """Make the questions of a dataset, and print what is wrong with which."""
    world = World(dataset)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(wrong=wrong)
        made = generate(
            dataset,
            count=count,
            seed=seed,
            settings=settings,
            folder=Path(folder),
        )
    found: Counter[str] = Counter()
    for question in made.questions:
        found["questions"] += 1
        for fault in faults(world, question):
            found["wrong"] += 1
            print(f"  {question.id}: {fault}: {question}")
            break
    kinds = len({question.measure for question in made.questions})
    print(
        f"{name:18} {wrong:8} {found['questions']:6} questions of {kinds:2} kinds, "
        f"{found['wrong']} wrong",
        flush=True,
    )
    return found


def compare(name: str, dataset: Dataset, count: int, seed: int) -> None:
    """Print what simple ways to answer reach, as a table of each kind."""
    found = {}
    for wrong in ("uniform", "popular"):
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(wrong=wrong)
            made = generate(
                dataset,
                count=count,
                seed=seed,
                settings=settings,
                folder=Path(folder),
            )
        kinds: dict[str, list[Question]] = defaultdict(list)
        for question in made.questions:
            kinds[question.measure].append(question)
        found[wrong] = {kind: baselines(questions) for kind, questions in kinds.items()}
    print(f"{name} | {' | '.join(BASELINES)} | popularity, shortest with wrong=popular")
    for kind, row in found["uniform"].items():
        matched = found["popular"].get(kind, {})
        last = " | ".join(
            f"{matched[way]:.3f}" if way in matched else "-"
            for way in ("popularity", "shortest")
        )
        print(
            f"| `{kind}` | {' | '.join(f'{row[way]:.3f}' for way in BASELINES)} | {last} |",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--data", nargs="+", default=["mini"], metavar="NAME|PATH")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--baselines",
        action="store_true",
        help="what simple ways reach",
    )
    given = parser.parse_args()
    if given.baselines:
        for name in given.data:
            compare(Path(name).name, load(name), given.count, given.seed)
        return
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        datasets = {Path(name).name: load(name) for name in given.data}
        for name, make in WORLDS.items():
            datasets[f"made-up {name}"] = load(make(Path(scratch) / name, given.seed))
        for name, dataset in datasets.items():
            titles = pd.Series([plain(item.label) for item in dataset.items.values()])
            print(
                f"{name}: {int(titles.duplicated().sum())} items of a label that another one has",
            )
            for wrong in ("uniform", "popular"):
                total += check(name, dataset, given.count, given.seed, wrong)
    print(f"{total['questions']} questions, {total['wrong']} wrong")
    sys.exit(1 if total["wrong"] else 0)


if __name__ == "__main__":
    main()
