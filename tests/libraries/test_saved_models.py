"""Models of libraries, saved and loaded in a new process, answer as the fitted ones do.

`scripts/libraries` runs this in the environment of each library; elsewhere only the
comparison itself is tested.
"""

import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import Recommendation, Request
from pytest_recsys_mt.oracles import never_differs
from tests.support.engine import Run, Settings, Side
from tests.support.recommenders import resolve
from tests.support.requests import Design

ADAPTERS = Path(__file__).resolve().parents[2] / "examples" / "libraries"
DESIGNS = (
    Design(users=200),  # 10 of 20 candidates
    Design(users=200, candidates=0, k=50),  # 50 of the whole catalogue
)


@dataclass(frozen=True)
class Way:
    """A way to save a model.

    Attributes:
        save: Writes a model into a folder; it is given the model, its adapter and the
            folder.
        load: Reads the model again; it is given the class of the model, the adapter
            without a model, and the folder.
    """

    save: Callable[[Any, Any, Path], object]
    load: Callable[[Any, Any, Path], Any]


def pickled() -> Way:
    return Way(
        lambda model, _, folder: (folder / "model").write_bytes(pickle.dumps(model)),
        lambda _kind, _, folder: pickle.loads((folder / "model").read_bytes()),
    )


def joblib() -> Way:
    library: Any = import_module("joblib")
    return Way(
        lambda model, _, folder: library.dump(model, folder / "model"),
        lambda _kind, _, folder: library.load(folder / "model"),
    )


def implicit() -> Way:
    return Way(
        lambda model, _, folder: model.save(str(folder / "model")),
        lambda kind, _, folder: kind.load(str(folder / "model")),
    )


def rectools() -> Way:
    return Way(
        lambda model, _, folder: model.save(folder / "model"),
        lambda kind, _, folder: kind.load(folder / "model"),
    )


def cornac() -> Way:
    return Way(
        lambda model, _, folder: model.save(str(folder)),
        lambda kind, _, folder: kind.load(str(next(folder.glob("*/*.pkl")))),
    )


def surprise() -> Way:
    dump: Any = import_module("surprise.dump")
    return Way(
        lambda model, _, folder: dump.dump(str(folder / "model"), algo=model),
        lambda _kind, _, folder: dump.load(str(folder / "model"))[1],
    )


def recbole() -> Way:
    """A checkpoint, read as `load_data_and_model` does but for the defects that
    `recbole_quick_start` and `recbole_checkpoint` of examples/findings show.
    """
    import torch
    from recbole.utils import get_trainer

    def save(model: Any, adapter: Any, folder: Path) -> None:
        config = adapter.data.config
        trainer = get_trainer(config["MODEL_TYPE"], config["model"])(config, model)
        trainer._save_checkpoint(0, verbose=False, saved_model_file=folder / "model")

    def load(kind: Any, adapter: Any, folder: Path) -> Any:
        state = torch.load(folder / "model", weights_only=False)
        model = kind(state["config"], adapter.data)
        model.load_state_dict(state["state_dict"])
        model.load_other_parameter(state["other_parameter"])
        return model.eval()

    return Way(save, load)


def half() -> Way:
    """A way that changes the model: numbers of 16 bits."""
    return Way(
        lambda model, _, folder: (folder / "model").write_bytes(
            pickle.dumps(model.astype("float16")),
        ),
        lambda _kind, _, folder: pickle.loads((folder / "model").read_bytes()),
    )


WAYS: dict[str, Callable[[], Way]] = {
    "pickle": pickled,
    "joblib": joblib,
    "implicit": implicit,
    "rectools": rectools,
    "cornac": cornac,
    "surprise": surprise,
    "recbole": recbole,
    "half": half,
}


@dataclass(frozen=True)
class Case:
    """A model of a library, and a way to save it.

    Attributes:
        library: The name of the adapter's file, without its end.
        spec: The class of the adapter and its parameters.
        way: A name of `WAYS`.
        adapters: The folder of the file.
    """

    library: str
    spec: str
    way: str
    adapters: Path = ADAPTERS

    @property
    def attribute(self) -> str:
        """The attribute of the adapter that holds the model."""
        return "pipeline" if self.library == "lenskit" else "model"

    def adapter(self) -> Any:
        """A new adapter, not fitted."""
        return resolve(f"{self.adapters / self.library}_models.py:{self.spec}")


def cases(library: str, ways: str, specs: str) -> list[Case]:
    return [Case(library, spec, way) for spec in specs.split() for way in ways.split()]


CASES = [
    *cases("implicit", "pickle implicit", "Als Knn Knn?weighting=bm25 Bpr"),
    *cases(
        "irspack",
        "pickle joblib",
        "Ials Linear?kind=p3alpha Linear?kind=rp3beta Linear?kind=slim "
        "Linear?kind=cosine",
    ),
    *cases(
        "lenskit",
        "pickle",
        "LensKit?kind=itemknn LensKit?kind=userknn LensKit?kind=ease LensKit?kind=als "
        "LensKit?kind=biased-mf",
    ),
    # PureSvd cannot be fitted: `rectools_pure_svd` of examples/findings.
    *cases("rectools", "pickle rectools", "RecTools RecTools?kind=itemknn"),
    *cases(
        "cornac",
        "pickle cornac",
        "Cornac?kind=bpr Cornac?kind=mf Cornac?kind=ease Cornac?kind=itemknn",
    ),
    *cases(
        "surprise",
        "pickle surprise",
        "Surprise?kind=svd Surprise?kind=svdpp Surprise?kind=slope-one "
        "Surprise?kind=knn-basic Surprise?kind=knn-means Surprise?kind=knn-baseline",
    ),
    *cases("surprise", "joblib", "Surprise"),
    *cases("recommenders", "pickle joblib", "Sar"),
    *cases("recbole", "pickle joblib recbole", "RecBole RecBole?kind=EASE"),
]


def save(case: Case, adapter: Any, folder: Path) -> None:
    """Save the model in its way, and what else the adapter has with pickle."""
    rest = dict(vars(adapter))
    model = rest.pop(case.attribute)
    WAYS[case.way]().save(model, adapter, folder)
    (folder / "rest").write_bytes(pickle.dumps((type(model), rest)))


def load(case: Case, folder: Path) -> Any:
    """The adapter with the model that was saved."""
    adapter = case.adapter()
    kind, rest = pickle.loads((folder / "rest").read_bytes())
    vars(adapter).update(rest)
    setattr(adapter, case.attribute, WAYS[case.way]().load(kind, adapter, folder))
    return adapter


LOADED: list[Any] = []
"""The adapter that a new process has loaded."""


def load_there(case: Case, folder: Path) -> None:
    LOADED.append(load(case, folder))


def answers_there(requests: Sequence[Request]) -> list[Recommendation]:
    answers: list[Recommendation] = LOADED[0].recommend(requests)
    return answers


@dataclass
class Here:
    """A fitted adapter, which a run asks and does not fit again."""

    adapter: Any
    deterministic = True

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        answers: list[Recommendation] = self.adapter.recommend(requests)
        return answers


@dataclass
class Elsewhere:
    """The adapter that another process has loaded."""

    process: Executor
    deterministic = True

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        return self.process.submit(answers_there, list(requests)).result()


def differing(case: Case, folder: Path) -> list[tuple[int, int]]:
    """How many lists differ, and of how many users, for each design."""
    settings = Settings(models=(), design=DESIGNS[0], seed=0, cache=folder / "cache")
    run = Run(settings, name="saved")
    adapter = case.adapter()
    adapter.fit(run.split.training, 0)
    saved = folder / "saved"
    saved.mkdir()
    save(case, adapter, saved)
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        process.submit(load_there, case, saved).result()
        both = {"fitted": Here(adapter), "loaded": Elsewhere(process)}
        found = [counted(run, both, design) for design in DESIGNS]
    run.close()
    return found


def counted(run: Run, both: dict[str, Any], design: Design) -> tuple[int, int]:
    runners = [run.runner(each, name, design, name) for name, each in both.items()]
    fitted, loaded = (Side(each, each.context()) for each in runners)
    verdict = never_differs(fitted, loaded)
    assert verdict.estimate is not None, verdict
    differing = round(verdict.estimate * verdict.users)
    assert verdict.status == ("violated" if differing else "holds"), verdict
    return differing, verdict.users


@pytest.mark.parametrize(
    "case",
    CASES,
    ids=lambda case: f"{case.library}-{case.spec}-{case.way}",
)
def test_a_loaded_model_answers_as_the_fitted_one(case: Case, tmp_path: Path) -> None:
    if find_spec(case.library) is None:
        pytest.skip(f"needs {case.library}: scripts/libraries {case.library}")
    assert differing(case, tmp_path) == [(0, 200), (0, 200)]


OWN = """
from dataclasses import dataclass

import numpy as np

from pytest_recsys_mt.recommenders.adapters import Adapter

@dataclass(eq=False)
class Own(Adapter):
    deterministic = True

    def learn(self, dataset, seed):
        size = len(self.catalogue)
        self.model = 100 + np.random.default_rng(seed).random((size, size))

    def score(self, requests):
        return self.profiles(requests) @ self.model
"""


@pytest.mark.parametrize(("way", "differs"), [("pickle", False), ("half", True)])
def test_a_model_that_saving_changed_is_found(
    way: str,
    differs: bool,
    tmp_path: Path,
) -> None:
    (tmp_path / "own_models.py").write_text(OWN)
    found = differing(Case("own", "Own", way, tmp_path), tmp_path)
    assert [users for _, users in found] == [200, 200]
    assert [count > 100 for count, _ in found] == [differs, differs]
