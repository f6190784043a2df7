"""The formulas of the papers, computed again from the answers of real runs by code that
shares nothing with ours.

    python -m benchmarks.formulas

The runs are those of the papers' protocols on the embedded data: classical
recommenders, and a text model whose answers vary and now and then name films that do
not exist. What each user was asked and answered, and what the oracles say, go to a
file. Here each formula stands as its paper prints it, in plain Python or from SciPy and
`rbo`. Popularity is counted from the users' training histories. The exit status is 1 if
a value differs by more than 1e-9.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean, median, pstdev, variance
from typing import Any

import rbo
from scipy.stats import kendalltau, spearmanr, ttest_ind

from benchmarks.papers import Scripted as _Scripted

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 1e-9
RUNS = """
import json

import pytest

from pytest_recsys_mt.suites.lrworld import MEASURES, ask, noisy, questions_of, rare, settings_of, shuffled
from pytest_recsys_mt.oracles import (accuracy_gap, accuracy_kept, at_most, better_than_chance, cand_dif_within, curve,
                                      paper_t_test, same_choices, self_agreement)
from pytest_recsys_mt.relations import place_positive, scale_ratings

RANKING = ("hit@5", "ndcg@5", "aplt@5", "serendipity@5", "hallucination@5", "self_information@5",
           "intra_list_diversity@5", "arp@5")
TOGETHER = ("item_coverage@5", "oic@5", "exposure_gini@5", "popreo@5", "dpd@5", "jain@5")
BIAS = ("hit@5", "hit@10", "log_popularity_difference", "popularity_lift", "gini_difference",
        "gini_relative_difference", "gini_ratio", "herfindahl_difference", "herfindahl_relative_difference",
        "herfindahl_ratio", "popularity_rank_correlation", "malformed", "already_seen", "unknown_title",
        "outside_catalogue", "invalid")
SIMILARITIES = ("rbo", "kendall", "overlap")


def kept(side):
    return [
        {
            "user": each.user,
            "candidates": [item.id for item in each.request.candidates or ()],
            "relevant": sorted(each.relevant),
            "past": each.past,
            "shown": [rating.item.id for rating in each.request.history],
            "k": each.request.k,
            "answers": [answer.items for answer in each.answers],
            "kinds": [[entry.kind for entry in answer.entries] for answer in each.answers],
        }
        for each in side.sample().asked
    ]


def keep(paper, recsys, values, *sides):
    items = {item.id: item.attributes.get("genres", ()) for item in recsys.dataset.items.values()}
    had = recsys.dataset.interactions["item"].tolist()
    with open("kept.jsonl", "a") as file:
        print(json.dumps({"paper": paper, "model": recsys.model, "values": values, "items": items,
                          "interactions": had, "sides": [kept(side) for side in sides]}), file=file)


def read(choices):
    return dict(zip(choices.questions, zip(choices.right, choices.chosen)))


def means(side, names):
    return {name: points[0][1] for name in names if (points := curve({0: side}, name))}


@pytest.mark.recsys_design(prompt="rank", users=1000, history=1000, replicates=1)
def test_ranking(recsys):
    side, first = recsys.run(), recsys.run(place_positive(1))
    values = means(side, RANKING) | {name: at_most(side, name, 0.99).value for name in TOGETHER}
    for name in ("hit@5", "ndcg@5"):
        verdict = cand_dif_within(side, first, name, 0.5)
        values[f"cand_dif:{name}"] = verdict.estimate
    keep("001", recsys, values, side, first)


@pytest.mark.recsys_design(candidates=0, k=10, prompt="wok", users=1000, history=100_000, replicates=1, fold=0)
def test_bias(recsys):
    side = recsys.run()
    keep("004", recsys, means(side, BIAS), side)


@pytest.mark.recsys_design(k=5, history=20, candidates=0, replicates=4, users=100)
def test_agreement(recsys):
    side, changed = recsys.run(), recsys.run(scale_ratings(2, paper=True))
    values = {}
    for each in SIMILARITIES:
        values[each] = self_agreement(side, each, 0.5, published=True).value
        test = paper_t_test(side, changed, similarity=each)
        values |= {f"t:{each}": test.details.get("t"), f"p:{each}": test.details.get("p")}
    keep("002", recsys, values, side, changed)


@pytest.mark.parametrize("measure", [each for each in MEASURES if each.dataset == "movielens"], ids=lambda m: m.name)
@pytest.mark.recsys_design(users=100)
def test_choices(recsys, measure):
    model, questions = recsys.texts, questions_of(recsys, measure)
    source, strange = ask(model, questions), ask(model, noisy(questions, 0))
    orders = [ask(model, shuffled(questions, 0, number)).choices for number in range(5)]
    names = rare(questions, recsys.dataset, settings_of(recsys))
    found = [
        better_than_chance(source.choices, recsys.context),
        accuracy_kept(source.choices, strange.choices, recsys.context, 0.5),
        same_choices(source.choices, orders, recsys.context, 0.9),
        accuracy_gap(source.choices, names, recsys.context, 0.5),
    ]
    values = source.figures | {"accuracy": found[0].value}
    for verdict in found[1:]:
        values |= verdict.details.get("figures", {})
    with open("kept.jsonl", "a") as file:
        print(json.dumps({"paper": "LRWorld", "model": recsys.model, "values": values, "rare": sorted(names),
                          "sides": [read(source.choices), read(strange.choices), *map(read, orders)]}), file=file)
"""

Row = dict[str, Any]
Users = Sequence[Row]


class Inventive(_Scripted):
    """`Scripted`, which at times names a film that does
    not exist, or chooses no option.
    """

    fingerprint = "inventive"

    def answer(self, text: str, seed: int) -> str:
        """What it writes; the second film of a list may be invented."""
        lines = super().answer(text, seed).splitlines()
        if seed % 4 == 0 and len(lines) > 2:
            lines[1] = (
                f"2. The Invented Film of {1900 + seed % 90} ({1900 + seed % 90})"
            )
        return (
            "I cannot say." if seed % 16 == 0 and len(lines) < 3 else "\n".join(lines)
        )


class Repeating(_Scripted):
    """Names the films of a prompt that come last, also those that the user has seen."""

    fingerprint = "repeating"

    def answer(self, text: str, seed: int) -> str:
        """What it writes."""
        named = sorted(
            (at, title) for title in self.levels if (at := text.find(title)) >= 0
        )
        films = [title for _, title in named[-10:]]
        return "\n".join(f"{place}. {film}" for place, film in enumerate(films, 1))


class World:
    """What a run was about. Popularity is counted from all
    interactions but those that are held out.
    """

    def __init__(self, record: Row) -> None:
        items = record["items"]
        self.users, self.genres = record["sides"][0], items
        self.counts: Counter[str] = Counter(record["interactions"])
        self.counts.subtract(item for user in self.users for item in user["relevant"])
        self.popular = sorted(items, key=lambda item: (-self.counts[item], item))
        self.tail = set(self.popular[len(items) - math.floor(0.8 * len(items)) :])
        self.group = {
            item: 5 * rank // len(items) for rank, item in enumerate(self.popular[::-1])
        }

    def top(self, user: Row, k: int = 5) -> list[str]:
        """What MostPop would answer: the most popular candidates."""
        return [item for item in self.popular if item in user["candidates"]][:k]


def first(user: Row, k: int = 5) -> list[str]:
    """The first k items of the first answer."""
    return list(user["answers"][0])[:k]


def ndcg(user: Row, k: int = 5) -> float:
    """Equation 11 of 001."""
    places = enumerate(first(user, k), 1)
    return sum(
        1 / math.log2(place + 1) for place, item in places if item in user["relevant"]
    )


def hit(user: Row, k: int = 5) -> float:
    """Whether a held-out item is in the list."""
    return float(any(item in user["relevant"] for item in first(user, k)))


def self_information(world: World, user: Row) -> float:
    """Equation 12 of 001, over the items that somebody has."""
    bits = [
        math.log2(len(world.users) / n) for i in first(user) if (n := world.counts[i])
    ]
    return fmean(bits)


def serendipity(world: World, user: Row) -> float:
    """A hit that MostPop misses: the text and the code of 001, as
    its equations 6 and 13 leave the hit out.
    """
    return float(hit(user) and not set(world.top(user)) & set(user["relevant"]))


def diversity(world: World, user: Row) -> float:
    """One minus the mean Jaccard likeness of the genres of each two items."""
    sets = [set(world.genres[item]) for item in first(user) if world.genres.get(item)]
    return 1 - fmean(len(a & b) / len(a | b) for a, b in combinations(sets, 2))


def cand_dif(sides: Sequence[Users], score: Callable[[Row], float]) -> float:
    """Equation 8 of 001."""
    usual, placed = (fmean(map(score, side)) for side in sides)
    return -math.log(1 - placed) + math.log(1 - usual)


def oic(users: Users) -> float:
    """Equation 19 of 001."""
    shares = []
    for one, other in combinations(users, 2):
        if both := len(set(one["candidates"]) & set(other["candidates"])):
            same = set(first(one)) & set(first(other)) & set(one["candidates"])
            shares.append(len(same) / both)
    return fmean(shares)


def exposure_gini(users: Users) -> float:
    """Equation 20 of 001, over all candidates."""
    shown = Counter(item for user in users for item in set(first(user)))
    offered = sorted({item for user in users for item in user["candidates"]})
    counts = [shown[item] for item in offered]
    far = sum(abs(one - other) for one in counts for other in counts)
    return far / (2 * len(offered) * sum(counts))


def popreo(world: World) -> float:
    """Equations 16 and 17 of 001: five groups of items of equal size, by popularity."""
    held, found = Counter[int](), Counter[int]()
    for user in world.users:
        for item in user["relevant"]:
            held[world.group[item]] += 1
            found[world.group[item]] += item in first(user)
    rates = [found[each] / held[each] for each in held]
    return pstdev(rates) / fmean(rates)


def dpd(users: Users) -> float:
    """Equation 21 of 001: users above the median length of history against the others."""
    middle = median(len(user["shown"]) for user in users)
    active = [ndcg(user) for user in users if len(user["shown"]) > middle]
    others = [ndcg(user) for user in users if len(user["shown"]) <= middle]
    return abs(fmean(active) - fmean(others))


def jain(users: Users) -> float:
    """Equation 22 of 001."""
    values = [ndcg(user) for user in users]
    return sum(values) ** 2 / (len(values) * sum(value * value for value in values))


def of_001(record: Row) -> Iterator[tuple[str, float]]:
    """Utility, novelty, position bias, and the appendix's
    coverage, popularity and fairness.
    """
    users, placed = record["sides"]
    world = World(record)
    yield "hit@5", fmean(map(hit, users))
    yield "ndcg@5", fmean(map(ndcg, users))
    yield (
        "aplt@5",
        fmean(sum(item in world.tail for item in first(user)) / 5 for user in users),
    )
    yield "serendipity@5", fmean(serendipity(world, user) for user in users)
    yield "hallucination@5", fmean(made_up(user, 5) for user in users)
    yield "self_information@5", fmean(self_information(world, user) for user in users)
    yield "intra_list_diversity@5", fmean(diversity(world, user) for user in users)
    yield (
        "arp@5",
        fmean(
            fmean(world.counts[i] for i in first(u) if i in world.genres) for u in users
        ),
    )
    yield "cand_dif:hit@5", cand_dif((users, placed), hit)
    yield "cand_dif:ndcg@5", cand_dif((users, placed), ndcg)
    named = {item for user in users for item in first(user)}
    offered = {item for user in users for item in user["candidates"]}
    yield "item_coverage@5", len(named & offered) / len(offered)
    yield "oic@5", oic(users)
    yield "exposure_gini@5", exposure_gini(users)
    yield "popreo@5", popreo(world)
    yield "dpd@5", dpd(users)
    yield "jain@5", jain(users)


def made_up(user: Row, k: int) -> float:
    """Equation 10 of 001, whose indicator is printed the wrong way round."""
    kinds = user["kinds"][0][:k]
    return sum(kind in ("unknown", "outside") for kind in kinds) / k


def gini(values: Sequence[float]) -> float:
    """Section 3.2 of 004."""
    n, total = len(values), sum(values)
    return sum((2 * i - n - 1) / n * v / total for i, v in enumerate(sorted(values), 1))


def herfindahl(values: Sequence[float]) -> float:
    """Section 3.2 of 004."""
    return sum((value / sum(values)) ** 2 for value in values)


INVALID = {
    "malformed": (), "already_seen": ("history",), "unknown_title": ("unknown",),
    "outside_catalogue": ("outside", "catalogue"),
}  # fmt: skip


def of_004(record: Row) -> Iterator[tuple[str, float]]:
    """What is recommended beside what the user has, by
    popularity; hits and invalid entries.
    """
    (users,) = record["sides"]
    world = World(record)
    found: dict[str, list[float]] = {}
    for user in users:
        ours = [world.counts[item] for item in first(user, 10) if world.counts[item]]
        own = [world.counts[item] for item in user["past"]]
        lift = fmean(ours) / fmean(own) - 1
        logs = fmean(map(math.log, ours)) - fmean(map(math.log, own))
        values = {"log_popularity_difference": logs, "popularity_lift": lift}
        for name, index in (("gini", gini), ("herfindahl", herfindahl)):
            values[f"{name}_difference"] = index(ours) - index(own)
            if index(own):
                values[f"{name}_relative_difference"] = (
                    index(ours) - index(own)
                ) / index(own)
                values[f"{name}_ratio"] = index(ours) / index(own)
        both = [item for item in first(user, 10) if item in user["past"]]
        counts = [world.counts[item] for item in both]
        if len(set(counts)) > 1:
            values["popularity_rank_correlation"] = spearmanr(counts, range(len(both)))[
                0
            ]
        for k in (5, 10):
            values[f"hit@{k}"] = hit(user, k)
        # Prose takes no place, and answers of which nothing could be read are not kept.
        kinds = [kind for kind in user["kinds"][0] if kind != "unparsed"][:10]
        counted = {
            name: sum(kind in of for kind in kinds) for name, of in INVALID.items()
        }
        values |= counted | {"invalid": sum(counted.values())}
        for name, value in values.items():
            found.setdefault(name, []).append(value)
    yield from ((name, fmean(values)) for name, values in found.items())


def tau(one: Sequence[str], other: Sequence[str]) -> float:
    """Kendall's tau-b over the items of both lists; those
    that a list lacks share its last place.
    """
    union = sorted({*one, *other})
    places = [
        [side.index(item) if item in side else len(side) for item in union]
        for side in (one, other)
    ]
    return float(kendalltau(*places)[0])


SIMILAR: dict[str, Callable[[Sequence[str], Sequence[str]], float]] = {
    "rbo": lambda one, other: float(
        rbo.RankingSimilarity([*one], [*other]).rbo_ext(p=0.9),
    ),
    "kendall": lambda one, other: (tau(one, other) + 1) / 2,
    "overlap": lambda one, other: len({*one} & {*other}) / len(one),
}


def of_002(record: Row) -> Iterator[tuple[str, float]]:
    """Agreement of a recommender with itself, and the t-test of
    runs with a change against runs without.
    """
    users, changed = record["sides"]
    if (
        not users or len(users[0]["answers"]) == 1
    ):  # it always gives the same answer, or none to read
        return
    for name, like in SIMILAR.items():
        agreed = [
            fmean(like(one, other) for one, other in combinations(user["answers"], 2))
            for user in users
        ]
        yield name, fmean(agreed)
        if min(agreed) == 1:
            continue
        runs = [
            [
                fmean(
                    like(user["answers"][0], answers[run])
                    for user, answers in zip(users, asked, strict=True)
                )
                for run in range(start, start + 3)
            ]
            for asked, start in (
                ([user["answers"] for user in users], 1),
                ([user["answers"] for user in changed], 0),
            )
        ]
        t, p = ttest_ind(*runs)
        yield f"t:{name}", float(t)
        yield f"p:{name}", float(p)


def of_lrworld(record: Row) -> Iterator[tuple[str, float]]:
    """Tables 3, 6, 20 and 23, and Figure 10."""
    source, strange, *orders = record["sides"]
    usual, noisy, *others = (
        fmean(right == chosen for right, chosen in side.values())
        for side in (source, strange, *orders)
    )
    yield "accuracy", usual
    yield "missed_rate", fmean(chosen is None for _, chosen in source.values())
    yield "source_accuracy", usual
    yield "followup_accuracy", noisy
    if usual:
        yield "relative_change", (noisy - usual) / usual
    yield "mean_accuracy_percent", fmean(100 * each for each in others)
    yield "variance_percent", variance(100 * each for each in others)
    for name, wanted in (("rare_share_of_right", True), ("rare_share_of_wrong", False)):
        of = [
            one in record["rare"]
            for one, (r, chosen) in source.items()
            if (r == chosen) == wanted
        ]
        if name in record["values"]:
            yield name, fmean(of)


AGAIN = {"LRWorld": of_lrworld, "001": of_001, "002": of_002, "004": of_004}


def main() -> None:
    """Run the protocols, and print each formula with its
    values and the largest difference.
    """
    own = ("Inventive", "Repeating")
    models = [
        "random",
        "itemknn",
        "benchmarks.papers:Scripted",
        *(f"{__spec__.name}:{x}" for x in own),
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_kept.py").write_text(RUNS, encoding="utf-8")
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *(f"--recsys-model={model}" for model in models)],
            cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        kept = folder / "kept.jsonl"
        if not kept.exists():
            sys.exit(done.stdout + done.stderr)
        records = [
            json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()
        ]
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for record in records:
        for formula, value in AGAIN[record["paper"]](record):
            ours = record["values"].get(formula)
            if (
                ours is None
            ):  # of too many answers nothing can be read, or all name what was seen
                continue
            if not abs(ours - value) <= LARGEST:
                print(
                    f"{record['model']}: {formula} is {ours}, and {value} here",
                    file=sys.stderr,
                )
            found.setdefault((record["paper"], formula), []).append((ours, value))
    print(
        "| paper | formula | values | from | to | largest difference |\n|---|---|---:|---:|---:|---:|",
    )
    right = True
    for (paper, formula), pairs in sorted(found.items()):
        values = [value for _, value in pairs]
        far = max(abs(ours - value) for ours, value in pairs)
        right &= all(abs(ours - value) <= LARGEST for ours, value in pairs)
        told = f"{len(pairs)} | {min(values):.4g} | {max(values):.4g} | {far:.0e}"
        print(f"| {paper} | `{formula}` | {told} |")
    sys.exit(not right)


if __name__ == "__main__":
    main()
