from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from pytest_recsys_mt import MissingExtraError, RecommenderError
from pytest_recsys_mt.extensions import RECOMMENDERS
from pytest_recsys_mt.requests import Completion, Prompt
from tests.extras import need
from tests.support.recommenders import (
    BM25,
    EASE,
    IALS,
    NAMES,
    TRAINED,
    ItemKNN,
    MostPop,
    Random,
    RP3Beta,
    UserKNN,
    describe,
    resolve,
)

TRAINED_PACKAGE = "pytest_recsys_mt.recommenders.trained"

SOURCE = """
from __future__ import annotations
from dataclasses import dataclass

@dataclass
class Ranker:
    size: int = 2
    def recommend(self, requests):
        return [self.size] * len(requests)

class Writer:
    name = "the writer"
    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return []

class Shelf:
    Inner = Writer

class Needy:
    def __init__(self, size):
        self.size = size
    def recommend(self, requests):
        return []

def factory(size: int = 7):
    return Ranker(size)

def broken():
    raise OSError("no weights here")

ready = Ranker(5)
nothing = 3
"""


@dataclass
class FakeModel:
    spec: str

    @classmethod
    def from_spec(cls, spec: str, *, exact: bool = False) -> FakeModel:
        return cls(spec)

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return []


@pytest.fixture
def no_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Language models are replaced by one that remembers its spec."""
    for module, name in [
        ("api.openai_model", "OpenAIModel"),
        ("local.hf_model", "HFModel"),
    ]:
        stand_in = ModuleType(module)
        setattr(stand_in, name, FakeModel)
        monkeypatch.setitem(sys.modules, f"pytest_recsys_mt.llm.{module}", stand_in)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "shop.py"
    file.write_text(SOURCE)
    yield file
    sys.modules.pop("shop", None)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Install distributions with entry points of our group."""
    monkeypatch.syspath_prepend(tmp_path)

    def installer(distribution: str, **points: str) -> None:
        folder = tmp_path / f"{distribution}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n",
        )
        lines = [f"{name} = {value}" for name, value in points.items()]
        (folder / "entry_points.txt").write_text(
            "\n".join([f"[{RECOMMENDERS}]", *lines]),
        )

    return installer


def test_built_in_names() -> None:
    kinds = {
        "random": Random,
        "mostpop": MostPop,
        "itemknn": ItemKNN,
        "userknn": UserKNN,
        "bm25": BM25,
        "ease": EASE,
        "ials": IALS,
        "rp3beta": RP3Beta,
    }
    assert kinds.keys() <= set(NAMES)
    for name, kind in kinds.items():
        assert type(resolve(name)) is kind
        assert describe(resolve(name)) == name


def test_parameters_reach_the_recommender_and_its_name() -> None:
    knn = resolve("itemknn?weights=binary&neighbours=10")
    assert isinstance(knn, ItemKNN)
    assert (knn.neighbours, knn.weights) == (10, "binary")
    assert describe(knn) == "itemknn?neighbours=10&weights=binary"
    assert describe(resolve("itemknn?neighbours=30")) == "itemknn"
    assert describe(resolve(describe(resolve("bm25?b=0.5")))) == "bm25?b=0.5"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "itemknn?neighbors=10",
            "unknown parameter 'neighbors'; valid ones: 'neighbours', 'weights'",
        ),
        ("itemknn?weights=none", "weights='none' is not one of 'ratings', 'binary'"),
        ("mostpop?k=3", "unknown parameter 'k'; valid ones: none"),
        (
            "",
            "names nothing; known prefixes: openai:, litellm:, hf:, recorded:, https:, http:, rerank:; known names: random, mostpop",
        ),
        (" ?x=1", "names nothing"),
        ("recorded:answers.jsonl", "'answers.jsonl' cannot be read"),
        ("llama3:8b", "write 'openai:llama3:8b'"),
        (
            "no_such_package:Ranker",
            "neither a module 'no_such_package' that can be imported",
        ),
        ("shop.py", "name an object in it: 'shop.py:NAME'"),
    ],
)
def test_specs_that_mean_nothing_say_what_would(
    spec: str,
    message: str,
    no_calls: None,
) -> None:
    with pytest.raises(RecommenderError, match=message):
        resolve(spec)


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("itemkn", "itemknn"),
        ("ItemKNN", "itemknn"),
        ("item-knn", "itemknn"),
        ("user_knn", "userknn"),
        ("mostpopular", "mostpop"),
        ("bm-25", "bm25"),
        ("randm?x=1", "random"),
        ("SASRec", "sasrec"),
        ("sasrek", "sasrec"),
        ("light-gcn", "lightgcn"),
        ("gru", "gru4rec"),
        ("deepfm2", "deepfm"),
        ("bpr-mf", "bprmf"),
    ],
)
def test_a_slip_is_an_error_and_not_a_paid_call(
    slip: str,
    meant: str,
    no_calls: None,
) -> None:
    with pytest.raises(RecommenderError, match=f"did you mean '{meant}'") as caught:
        resolve(slip)
    assert f"'openai:{slip}'" in str(caught.value)
    assert resolve(f"openai:{slip}") == FakeModel(f"openai:{slip}")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "gpt-4o",
            "gpt-4o-mini",
            "gpt-4.1-nano",
            "gpt-5",
            "gpt-3.5-turbo-0125",
            "gpt-oss-120b",
        ),
        *(
            "o1",
            "o3",
            "o4-mini",
            "chatgpt-4o-latest",
            "davinci-002",
            "babbage-002",
            "codex-mini-latest",
        ),
        *(
            "deepseek-r1",
            "mistral-large",
            "qwen2.5",
            "llama3",
            "gemma3",
            "phi4",
            "claude-opus-4",
        ),
    ],
)
def test_any_other_bare_name_is_an_openai_chat_model(name: str, no_calls: None) -> None:
    spec = f"{name}?temperature=0&max_tokens=9"
    assert resolve(spec) == FakeModel(f"openai:{spec}")


@pytest.mark.parametrize("name", ["bert4rec", "LightFM", "NeuMF", "ngcf", "slimrec"])
def test_a_recommender_that_is_not_offered_is_no_paid_call_either(
    name: str,
    no_calls: None,
) -> None:
    with pytest.raises(
        RecommenderError,
        match=f"no recommender '{name}'; .*known names: .*nrms",
    ):
        resolve(name)
    assert resolve(f"openai:{name}") == FakeModel(f"openai:{name}")


def test_trained_recommenders_are_built_by_name() -> None:
    need("torch")
    for name in TRAINED:
        assert describe(resolve(name)) == name
    assert describe(resolve("sasrec?dim=128&layers=1")) == "sasrec?dim=128&layers=1"


@pytest.mark.parametrize("package", ["torch", "safetensors"])
def test_a_missing_package_says_how_to_install_it(
    package: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in [
        name for name in sys.modules if name.startswith(f"{TRAINED_PACKAGE}.")
    ]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"{package}.torch", raising=False)
    with pytest.raises(
        MissingExtraError,
        match=r"pip install 'pytest-recsys-mt\[train\]'",
    ):
        resolve("sasrec")


@pytest.mark.parametrize(
    "spec",
    ["openai:gpt-4o?temperature=0", "hf:org/model@main", "hf:a/b.gguf"],
)
def test_prefixes_get_the_spec_as_it_is(spec: str, no_calls: None) -> None:
    assert resolve(spec) == FakeModel(spec)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("Ranker", 2),
        ("Ranker?size=4", 4),
        ("factory", 7),
        ("factory?size=1", 1),
        ("ready", 5),
    ],
)
def test_a_file_gives_an_object_a_class_or_a_factory(
    shop: Path,
    name: str,
    size: int,
) -> None:
    ranker = resolve(f"{shop}:{name}")
    assert vars(ranker)["size"] == size
    assert describe(ranker) == "shop.py:Ranker"
    assert pickle.loads(pickle.dumps(ranker)) == ranker


def test_text_models_and_nested_names_count_too(shop: Path) -> None:
    assert describe(resolve(f"{shop}:Writer")) == "the writer"
    assert describe(resolve(f"{shop}:Shelf.Inner")) == "the writer"


def test_a_relative_path_and_a_module_find_the_same_code(
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(shop.parent)
    monkeypatch.syspath_prepend(shop.parent)
    assert type(resolve("./shop.py:Ranker")) is type(resolve(f"{shop}:Ranker"))
    assert describe(resolve("shop:Ranker")) == "shop:Ranker"


def test_two_files_of_one_name_do_not_meet(tmp_path: Path) -> None:
    rankers = []
    for folder, size in [("one", 1), ("two", 2)]:
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "shop.py"
        file.write_text(SOURCE.replace("size: int = 2", f"size: int = {size}"))
        rankers.append(resolve(f"{file}:Ranker"))
    assert [vars(ranker)["size"] for ranker in rankers] == [1, 2]
    assert pickle.loads(pickle.dumps(rankers)) == rankers


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Rankr", "has no 'Rankr'; did you mean 'Ranker'"),
        (
            "xyz",
            "has no 'xyz'; did you mean 'Ranker' or 'Writer' or 'Needy' or 'ready'",
        ),
        (
            "Shelf",
            "of class Shelf; it has neither recommend\\(requests\\) nor complete\\(prompts\\)",
        ),
        ("nothing", "of class int; it has neither"),
        ("Needy", "needs a value for 'size'"),
        ("broken", "cannot be built: OSError: no weights here"),
        ("ready?size=3", "built already, so it takes no parameters \\('size'\\)"),
        ("Ranker?sise=3", "unknown parameter 'sise'; valid ones: 'size'"),
    ],
)
def test_names_that_do_not_recommend_are_explained(
    shop: Path,
    name: str,
    message: str,
) -> None:
    with pytest.raises(RecommenderError, match=message):
        resolve(f"{shop}:{name}")


def test_a_missing_file_names_its_neighbours(shop: Path) -> None:
    with pytest.raises(
        RecommenderError,
        match=r"no file '.*shp\.py'.*did you mean 'shop\.py'",
    ):
        resolve(f"{shop.parent}/shp.py:Ranker")
    with pytest.raises(
        RecommenderError,
        match=r"the folder '.*nowhere' does not exist",
    ):
        resolve(f"{shop.parent}/nowhere/shop.py:Ranker")


@pytest.mark.parametrize(
    "line",
    ["import no_such_package", "1 / 0", "def", "raise SystemExit(3)"],
)
def test_code_that_cannot_run_is_chained(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
) -> None:
    file = tmp_path / "wrong_code.py"
    file.write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    for spec in (f"{file}:Ranker", "wrong_code:Ranker"):
        with pytest.raises(RecommenderError, match="raised") as caught:
            resolve(spec)
        assert caught.value.__cause__ is not None
        file.write_text(
            line + "\n",
        )  # a failed import leaves nothing behind: it can be mended
    file.write_text(SOURCE)
    assert describe(resolve(f"{file}:Ranker")) == "wrong_code.py:Ranker"


def test_entry_points_give_recommenders_by_name(
    shop: Path,
    install: Callable[..., None],
) -> None:
    install("acme", acme="shop:factory", gpt_like="shop:Writer")
    assert describe(resolve("gpt_like")) == "the writer"
    assert vars(resolve("acme?size=3"))["size"] == 3
    with pytest.raises(RecommenderError, match="did you mean 'acme'"):
        resolve("acne")


def test_a_name_provided_twice_names_both(
    shop: Path,
    install: Callable[..., None],
) -> None:
    install("acme", ranker="shop:Ranker")
    install("emca", ranker="shop:Writer", itemknn="shop:Ranker")
    with pytest.raises(
        RecommenderError,
        match=r"2 times: by .*acme \(shop:Ranker\)",
    ) as caught:
        resolve("ranker")
    assert "emca (shop:Writer)" in str(caught.value)
    with pytest.raises(
        RecommenderError,
        match=r"pytest-recsys-mt itself and by emca \(shop:Ranker\)",
    ):
        resolve("itemknn")


def test_an_entry_point_that_cannot_be_loaded_is_chained(
    install: Callable[..., None],
) -> None:
    install("acme", acme="no_such_package:Ranker")
    with pytest.raises(
        RecommenderError,
        match="'acme' of the entry point 'no_such_package:Ranker'",
    ):
        resolve("acme")


def test_importing_the_registry_stays_light() -> None:
    code = "import sys, pytest_recsys_mt.recommenders; print(*sys.modules)"
    child = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    heavy = {"scipy.stats", "torch", "transformers", "openai", "sklearn"}
    assert not heavy & set(child.stdout.split())


def test_a_module_in_the_current_folder_is_found(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "corner_shop.py").write_text(SOURCE)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    assert describe(resolve("corner_shop:Ranker")) == "corner_shop:Ranker"
    assert sys.path[-1] == str(tmp_path)
    del sys.modules["corner_shop"]


def test_a_dot_in_place_of_the_colon_is_no_language_model(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop_of_mine.py").write_text("class Newest: ...\n")
    with pytest.raises(
        RecommenderError,
        match=r"did you mean 'shop_of_mine:Newest', the object",
    ):
        resolve("shop_of_mine.Newest")
