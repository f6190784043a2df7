"""The adapters of examples/libraries answer as the libraries themselves do for a user
that they were fitted to.

`scripts/libraries` runs this in the environment of each library; elsewhere there is
nothing to run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_recsys_mt.datasets import Dataset, load
from tests.support.engine import Split
from tests.support.recommenders import resolve
from tests.support.requests import Design

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "libraries"

Own = Callable[[Any, Dataset, str], dict[str, float]]
"""The library's own scores by item: of a fitted adapter, its training data, and a user;
what the user has is left out.
"""


def implicit(adapter: Any, training: Dataset, user: str) -> dict[str, float]:
    from scipy.sparse import csr_matrix

    ids = adapter.catalogue.ids
    row = csr_matrix(adapter.catalogue.interactions(training, "ratings"))[
        place(training, user)
    ]
    found = adapter.model.recommend(
        place(training, user),
        row,
        N=len(ids) - row.nnz,
        recalculate_user=not hasattr(adapter, "users"),
    )
    return {ids[column]: float(score) for column, score in zip(*found, strict=True)}


def irspack(adapter: Any, training: Dataset, user: str) -> dict[str, float]:
    scores = adapter.model.get_score_remove_seen(np.array([place(training, user)]))[0]
    named = zip(adapter.catalogue.ids, scores.tolist(), strict=True)
    return {item: score for item, score in named if score > -np.inf}


def lenskit(adapter: Any, training: Dataset, user: str) -> dict[str, float]:
    from lenskit import recommend

    found = recommend(adapter.pipeline, user, n=len(adapter.catalogue))
    return dict(zip(found.ids().tolist(), found.scores().tolist(), strict=True))


def rectools(adapter: Any, training: Dataset, user: str) -> dict[str, float]:
    found = adapter.model.recommend(
        [user],
        adapter.trained,
        k=len(adapter.catalogue),
        filter_viewed=True,
    )
    return dict(zip(found["item_id"], found["score"].astype(float), strict=True))


def surprise(adapter: Any, training: Dataset, user: str) -> dict[str, float]:
    frame = training.interactions
    mine = set(frame["item"][frame["user"] == user])
    rows = [(user, item, 0.0) for item in adapter.catalogue.ids if item not in mine]
    return {found.iid: found.est for found in adapter.model.test(rows)}


def cornac(adapter: Any, training: Dataset, user: str) -> dict[str, float]:
    items = adapter.model.recommend(user, remove_seen=True, train_set=adapter.rows)
    return {item: -float(number) for number, item in enumerate(items)}


def recommenders(adapter: Any, training: Dataset, user: str) -> dict[str, float]:
    frame = training.interactions
    found = adapter.model.recommend_k_items(
        frame[frame["user"] == user],
        top_k=len(adapter.model.item2index),
        remove_seen=True,
    )
    return dict(zip(found["item"], found["prediction"].astype(float), strict=True))


def recbole(adapter: Any, training: Dataset, user: str) -> dict[str, float]:
    import torch
    from recbole.data.interaction import Interaction

    row = Interaction(
        {"user_id": torch.tensor([adapter.data.token2id("user_id", user)])},
    )
    with torch.no_grad():
        scores = adapter.model.full_sort_predict(row).reshape(-1).tolist()
    frame = training.interactions
    mine = set(frame["item"][frame["user"] == user])
    ids = adapter.data.field2id_token["item_id"]
    return {
        item: score
        for item, score in zip(ids, scores, strict=True)
        if item not in {"[PAD]", *mine}
    }


def place(training: Dataset, user: str) -> int:
    """The row of a user."""
    return sorted(set(training.interactions["user"])).index(user)


@dataclass(frozen=True)
class Case:
    """A model of a library.

    Attributes:
        library: The name of the adapter's file, without its end.
        spec: The class and its parameters.
        own: The library's own answer.
    """

    library: str
    spec: str
    own: Own


CASES: Sequence[Case] = (
    Case("implicit", "Als", implicit),
    Case("implicit", "Knn", implicit),
    Case("implicit", "Knn?weighting=bm25", implicit),
    Case("implicit", "Bpr", implicit),
    *(
        Case("irspack", f"Linear?kind={kind}", irspack)
        for kind in ("p3alpha", "rp3beta", "slim", "cosine")
    ),
    *(
        Case("lenskit", f"LensKit?kind={kind}", lenskit)
        for kind in ("itemknn", "userknn", "ease", "als", "biased-mf")
    ),
    Case("rectools", "RecTools", rectools),
    Case("rectools", "RecTools?kind=itemknn", rectools),
    *(
        Case("surprise", f"Surprise?kind={kind}", surprise)
        for kind in (
            "svd",
            "svdpp",
            "slope-one",
            "knn-basic",
            "knn-means",
            "knn-baseline",
        )
    ),
    *(
        Case("cornac", f"Cornac?kind={kind}", cornac)
        for kind in ("bpr", "mf", "ease", "itemknn")
    ),
    Case("recommenders", "Sar", recommenders),
    Case("recbole", "RecBole", recbole),
)


def check(case: Case, file: Path) -> None:
    """The best ten of an adapter are the library's best ten, for twenty users."""
    if find_spec(case.library) is None:
        pytest.skip(f"needs {case.library}: scripts/libraries {case.library}")
    adapter: Any = resolve(f"{file}:{case.spec}")
    split = Split(load("mini"), seed=0)
    adapter.fit(split.training, 0)
    cases = split.cases(
        Design(users=20, history=len(split.dataset.items), candidates=0),
    )
    answers = adapter.recommend([each.request for each in cases])
    for each, answer in zip(cases, answers, strict=True):
        own = case.own(adapter, split.training, each.request.user)
        best = sorted(own.values(), reverse=True)[: len(answer.items)]
        assert len(answer.items) == min(10, len(own))
        # Items of equal scores may change places.
        assert [own[item] for item in answer.items] == pytest.approx(
            best,
            rel=1e-4,
            abs=1e-6,
        )


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.library}-{case.spec}")
def test_an_adapter_answers_as_its_library_and_leaves_no_files(
    case: Case,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    check(case, FOLDER / f"{case.library}_models.py")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "case",
    [Case("implicit", "Als", implicit)],
    ids=["implicit-page"],
)
def test_the_adapter_of_the_page_answers_as_its_library(
    case: Case,
    tmp_path: Path,
) -> None:
    page = FOLDER.parents[1] / "docs" / "libraries.md"
    code = page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    file = tmp_path / "my_als.py"
    file.write_text(code, encoding="utf-8")
    check(case, file)
