"""How well the built-in recommenders find the film that a user saw next, and implicit's
beside them.

Every user's latest interaction is held out and hidden among 19 items drawn evenly from
those that the user has not seen; a recommender that knows all earlier interactions
ranks the twenty.

    python benchmarks/quality.py --recsys-data=ml-1m [--recsys-model=sasrec?layers=1
        ...] [--seeds 5] [--yardstick ../with-implicit/bin/python]

HR@5 is the share of users whose item is among the first five; NDCG@5 and AUC (the share
of the 19 that come behind it) are means over users. Intervals are of 95 %, bootstrapped
over users, who keep their values of all seeds together. ``--yardstick`` names the
interpreter of an environment where implicit is installed; it gets the split and gives
scores, so implicit need not be installed here. The seconds of a fit are of the
processor, and no measurement of speed: one fit a seed, in no turns. A dash stands for a
network that was in ``--models`` already.
"""

import argparse
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.engine.cases import Case, Split
from pytest_recsys_mt.oracles import cluster_bootstrap
from pytest_recsys_mt.recommenders import NAMES, resolve
from pytest_recsys_mt.recommenders.scoring import Catalogue, ScoringRecommender
from pytest_recsys_mt.recommenders.trained import Trained
from pytest_recsys_mt.requests.design import Design

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

CANDIDATES = 20
CUT = 5
UNSEEDED = ("mostpop", "itemknn", "userknn", "bm25", "ease", "rp3beta")
"""Recommenders in which nothing is drawn, fitted once."""
YARDSTICK = Path(__file__).with_name("yardstick.py")


@dataclass(frozen=True)
class Found:
    """Where one recommender put the held-out items.

    Attributes:
        name: Of the recommender.
        ranks: From 1, shape (seeds, users).
        seconds: Of the processor, of the mean fit; not a number if the folder of models
            had one.
    """

    name: str
    ranks: Ints
    seconds: float

    @property
    def hits(self) -> Floats:
        """1 where the item is among the first `CUT`, shape (seeds, users)."""
        return (self.ranks <= CUT).astype(np.float64)

    @property
    def gains(self) -> Floats:
        """NDCG@`CUT` with one relevant item: the discount of
        its rank; shape (seeds, users).
        """
        return self.hits / np.log2(self.ranks + 1)

    @property
    def areas(self) -> Floats:
        """The share of the other candidates that come behind, shape (seeds, users)."""
        return (CANDIDATES - self.ranks) / (CANDIDATES - 1)


def asked(split: Split, users: int) -> tuple[Case, ...]:
    """A request a user, with the whole history and a full ranking of the candidates."""
    longest = int(split.dataset.interactions["user"].value_counts().max())
    return split.cases(
        Design(users=users, history=longest, candidates=CANDIDATES, k=CANDIDATES),
    )


def ours(
    spec: str,
    split: Split,
    cases: Sequence[Case],
    seeds: int,
    models: Path,
) -> Found:
    """The ranks of a built-in recommender, fitted anew for every seed."""
    ranks, seconds = [], []
    for seed in range(1 if spec.partition("?")[0] in UNSEEDED else seeds):
        recommender = resolve(spec)
        if not isinstance(recommender, ScoringRecommender):
            raise SystemExit(
                f"{spec!r} is none of the built-in recommenders: {', '.join(NAMES)}",
            )
        if isinstance(recommender, Trained):
            recommender.folder = models
        known = sorted(models.rglob("*"))
        start = time.process_time()
        recommender.fit(split.training, seed)
        spent = time.process_time() - start
        loaded = isinstance(recommender, Trained) and sorted(models.rglob("*")) == known
        seconds.append(math.nan if loaded else spent)
        answers = recommender.recommend([case.request for case in cases])
        ranks.append(
            [
                answer.items.index(next(iter(case.held_out))) + 1
                for answer, case in zip(answers, cases, strict=True)
            ],
        )
    return Found(spec, np.array(ranks, dtype=np.int64), float(np.mean(seconds)))


def theirs(
    python: str,
    split: Split,
    cases: Sequence[Case],
    seeds: int,
) -> Iterator[Found]:
    """The ranks of implicit's recommenders, from an environment of its own.

    Equal scores are ordered as for ours, by popularity and id.
    """
    catalogue = Catalogue.of(split.training)
    matrix = catalogue.interactions(split.training, "ratings")
    names = sorted(split.training.interactions["user"].unique())
    row = {name: place for place, name in enumerate(names)}
    column = catalogue.column
    candidates = np.sort(
        [[column[item.id] for item in case.request.candidates or ()] for case in cases],
        axis=1,
    )
    positives = np.array([column[next(iter(case.held_out))] for case in cases])
    with tempfile.TemporaryDirectory() as folder:
        np.savez(
            Path(folder) / "question.npz",
            data=matrix.data,
            indices=matrix.indices.astype(np.int32),
            indptr=matrix.indptr.astype(np.int32),
            shape=matrix.shape,
            users=np.array([row[case.request.user] for case in cases]),
            candidates=candidates,
            seeds=seeds,
        )
        subprocess.run([python, str(YARDSTICK), folder], check=True)
        with np.load(Path(folder) / "scores.npz") as scores:
            for name in ("ItemKNN", "BPR", "ALS"):
                # Columns are sorted, so a stable sort leaves equal scores in the
                # catalogue's order.
                order = np.argsort(-np.round(scores[name], 10), axis=-1, kind="stable")
                ranked = np.take_along_axis(candidates[None], order, axis=-1)
                ranks = (ranked == positives[:, None]).argmax(axis=-1) + 1
                yield Found(
                    f"implicit {name}",
                    ranks,
                    float(scores[f"{name}/seconds"].mean()),
                )


def cell(values: Floats) -> str:
    """The mean of values of shape (seeds, users), with its interval."""
    everyone = np.tile(np.arange(values.shape[1]), values.shape[0])
    low, high = cluster_bootstrap(values.ravel(), everyone.tolist())
    return f"{values.mean():.3f} [{low:.3f}, {high:.3f}]"


def line(found: Found, against: Found) -> str:
    """A line of the table."""
    cells = [cell(values) for values in (found.hits, found.gains, found.areas)]
    same = found.name == against.name
    difference = "–" if same else cell(found.gains - against.gains.mean(axis=0))
    fit = "–" if math.isnan(found.seconds) else f"{found.seconds:.1f}"
    return f"| {' | '.join([found.name, *cells, difference])} | {fit} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--recsys-data", default="ml-latest-small")
    parser.add_argument(
        "--recsys-model",
        action="append",
        help="all built-in ones by default",
    )
    parser.add_argument(
        "--against",
        default="mostpop",
        help="what NDCG is compared with",
    )
    parser.add_argument(
        "--seeds",
        type=int,
        default=1,
        help="fits of a model that draws",
    )
    parser.add_argument(
        "--split-seed",
        type=int,
        default=0,
        help="of the 19 other candidates",
    )
    parser.add_argument(
        "--users",
        type=int,
        default=sys.maxsize,
        help="at most; all by default",
    )
    parser.add_argument("--models", type=Path, default=Path(".recsys_cache/models"))
    parser.add_argument(
        "--yardstick",
        metavar="PYTHON",
        help="an interpreter that has implicit",
    )
    options = parser.parse_args(arguments)
    split = Split(load(options.recsys_data), options.split_seed)
    cases = asked(split, options.users)
    unseen = sum(
        split.training.popularity[next(iter(case.held_out))] == 0 for case in cases
    )
    print(
        f"{split.dataset.name}: {len(cases)} users, {len(split.dataset.items)} items, "
        f"{len(split.training.interactions)} training interactions, seeds: {options.seeds}; "
        f"{unseen} held-out items have no interaction in training\n",
    )
    against = ours(options.against, split, cases, options.seeds, options.models)
    print(
        f"| | HR@{CUT} | NDCG@{CUT} | AUC | NDCG@{CUT} less {against.name}'s | fit, s |",
    )
    print("|---|---|---|---|---|---:|")
    print(line(against, against), flush=True)
    for spec in options.recsys_model or NAMES:
        if spec != against.name:
            found = ours(spec, split, cases, options.seeds, options.models)
            print(line(found, against), flush=True)
    if options.yardstick:
        for found in theirs(options.yardstick, split, cases, options.seeds):
            print(line(found, against), flush=True)


if __name__ == "__main__":
    main()
