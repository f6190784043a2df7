"""Local models with random weights: what a batch does to answers, and what it does not."""

import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Self

import pytest

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.requests import Completion, Message, Prompt
from tests.extras import need
from tests.models import tiny
from tests.plugin.conftest import record_of

need("transformers", "torch")

import torch

from tests.support.llm_local import SCORING, HFModel
from tests.support.llm_local_extras import decoding

FILMS = ("Heat (1995)", "Alien (1979)", "Up", "Brazil (1985)", "Casino", "Fargo (1996)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save(tmp_path_factory.mktemp("tiny"))


def model(folder: Path, **how: object) -> HFModel:
    return HFModel(str(folder), **{"max_tokens": 16, "device": "cpu", **how})  # type: ignore[arg-type]


def prompt(text: str, seed: int = 0, k: int | None = None, *choices: str) -> Prompt:
    return Prompt((Message("user", text),), seed, k, choices)


def fifty() -> list[Prompt]:
    """Prompts of many lengths: some repeated, some with one beginning, some alone."""
    likes = [f"The user {n} likes {', '.join(FILMS[: n % 6 + 1])}. " for n in range(20)]
    texts = [*likes, *(f"{one}Name a film." for one in likes), *likes[:10]]
    return [prompt(text, seed) for seed, text in enumerate(texts)]


def texts(answers: Sequence[Completion]) -> list[str | None]:
    assert [answer.error for answer in answers] == [None] * len(answers)
    return [answer.text for answer in answers]


def test_a_run_asks_it_in_batches_and_a_second_run_reads_its_answers(
    pytester: pytest.Pytester,
    folder: Path,
) -> None:
    pytester.makepyfile(
        """
        from pytest_recsys_mt.oracles import no_repeats

        def test_it(recsys):
            no_repeats(recsys.run(), margin=0.5)
        """,
    )
    calls = []
    for _ in range(2):
        pytester.runpytest_inprocess(
            f"--recsys-model=hf:{folder}?max_tokens=8&device=cpu", "--recsys-users=3",
            "--recsys-json=record.json", f"--recsys-cache={pytester.path / 'cache'}",
        )  # fmt: skip
        calls.append(record_of(pytester.path / "record.json")["calls"])
    first, second = calls
    assert first["planned"] == first["made"] > first["failed"] == second["made"] == 0
    assert first["completion_tokens"] == 8 * first["made"]
    assert second["cached"] == first["made"]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_exact_answers_do_not_depend_on_the_batch(
    folder: Path,
    temperature: float,
) -> None:
    asked = fifty()[::2]
    exact = model(folder, exact=True, temperature=temperature)
    together = texts(exact.complete(asked))
    alone = texts([exact.complete([one])[0] for one in asked])
    backwards = texts(exact.complete(asked[::-1]))[::-1]
    assert together == alone == backwards
    assert len(set(together)) > 10
    assert exact.deterministic == (temperature == 0)
    assert torch.get_num_threads() >= 1
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_answers_of_a_batch_are_those_of_each_prompt_alone(
    folder: Path,
    temperature: float,
) -> None:
    """In float32 rounding decides no draw here; what is
    tested is the arithmetic of batches.
    """
    asked = fifty()
    plain = model(folder, exact=True, temperature=temperature).complete(asked)
    for most in (None, 7):
        batched = model(folder, batch=most, temperature=temperature).complete(asked)
        assert texts(batched) == texts(plain)
        assert [one.usage for one in batched] == [one.usage for one in plain]


@pytest.mark.parametrize(
    "temperature",
    [pytest.param(0.0, marks=pytest.mark.slow), 1.0],  # the other decodes no less
)
@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("llama", {}),
        pytest.param("qwen3", {}, marks=pytest.mark.slow),
        pytest.param(
            "gpt2",
            {"n_embd": 32, "n_head": 4, "n_layer": 2, "n_positions": 512},
            marks=pytest.mark.slow,
        ),
        ("gemma3_text", {"sliding_window": 8, "query_pre_attn_scalar": 8}),
        pytest.param("mamba", {"state_size": 8}, marks=pytest.mark.slow),
    ],
)
def test_every_architecture_answers_in_a_batch_as_alone(
    tmp_path: Path,
    kind: str,
    sizes: dict[str, int],
    temperature: float,
) -> None:
    answering = model(tiny.save(tmp_path, kind, **sizes), temperature=temperature)
    asked = [prompt(one.messages[0].content, one.seed % 3) for one in fifty()[::4] * 2]
    alone = texts([answering.complete([one])[0] for one in asked])
    assert texts(answering.complete(asked)) == alone


def test_a_repeated_prompt_of_a_batch_is_read_once(folder: Path) -> None:
    answering = model(folder, temperature=1.0)
    read = []
    answering._local.network.register_forward_pre_hook(
        lambda _, __, given: read.append(tuple(given["input_ids"].shape)),
        with_kwargs=True,
    )
    answers = texts(
        answering.complete([prompt("Name a film.", seed) for seed in range(5)]),
    )
    assert len(set(answers)) == 5
    assert read[:2] == [(1, len("Name a film.") - 1), (5, 1)]


def test_a_prompt_of_one_token_can_be_repeated(folder: Path) -> None:
    answering = model(folder, temperature=1.0)
    (alone,) = texts(answering.complete([prompt("N", 2)]))
    assert texts(answering.complete([prompt("N", 1), prompt("N", 2)]))[1] == alone


class Script:
    """Makes a model write fixed texts, one per row of a batch; a row with none writes
    what it will.

    Attributes:
        steps: How often the model was asked for a token.
    """

    def __init__(self, network: torch.nn.Module, *answers: str) -> None:
        self._rows = [[*tiny.tokenizer()(answer)["input_ids"], 2] for answer in answers]
        self.steps = 0
        self._hook = network.register_forward_hook(self._write)

    def _write(self, _: object, __: object, output):  # type: ignore[no-untyped-def]
        for row, tokens in enumerate(self._rows):
            if len(tokens) > 1 and self.steps < len(tokens):
                output.logits[row, -1, tokens[self.steps]] = 1e6
        self.steps += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._hook.remove()


@pytest.mark.parametrize(
    ("k", "expected"),
    [(2, "1. Heat\n2. Up\n"), (1, "1. Heat\n"), (None, "1. Heat\n2. Up\n3. Fargo\n")],
)
def test_an_answer_ends_with_the_line_of_its_last_entry(
    folder: Path,
    k: int | None,
    expected: str,
) -> None:
    decode = partial(tiny.tokenizer().decode, skip_special_tokens=True)
    how = decoding.Writing(60, frozenset({2}), decode)
    network = model(folder)._local.network
    with (
        torch.inference_mode(),
        Script(network, "1. Heat\n2. Up\n3. Fargo\n", "Up\nHeat\n") as script,
    ):
        rows = decoding.write(network, [(5, 6), (7,)], [0, 0], [k, k], how)
    # Lines of their own are no entries, so the second ends by itself.
    assert [how.decode(row) for row in rows] == [expected, "Up\nHeat\n"]
    # Nothing is written when all have ended.
    assert script.steps == max(map(len, rows))


def test_a_row_keeps_its_draws_when_others_have_ended(folder: Path) -> None:
    how = decoding.Writing(20, frozenset({2}), tiny.tokenizer().decode, temperature=1.0)
    network = model(folder)._local.network

    def written(*rows: tuple[str, int]) -> list[list[int]]:
        answers, seeds = zip(*rows, strict=True)
        prompts = [(10 + seed,) for seed in seeds]
        with torch.inference_mode(), Script(network, *answers):
            return decoding.write(network, prompts, seeds, [None for _ in rows], how)

    up, heat, among = written(("Up", 1), ("Heat", 2), ("", 3))
    (alone,) = written(("", 3))
    assert (len(up), len(heat)) == (3, 5)
    assert among == alone
    assert len(among) > 5


@pytest.mark.parametrize("kind", ["llama", "gemma3_text", "mamba"])
def test_choices_have_the_probability_of_being_written(
    tmp_path: Path,
    kind: str,
) -> None:
    sizes = (
        {"sliding_window": 8, "query_pre_attn_scalar": 8}
        if kind == "gemma3_text"
        else {}
    )
    answering = model(tiny.save(tmp_path, kind, **sizes), answer="choices")
    network, local = answering._local.network, answering._local
    asked = local.encode((Message("user", "Name a film."),))
    offered = [local.encode_answer(film) for film in FILMS]
    with torch.inference_mode():
        scores = decoding.log_probabilities(network, asked, offered)
        for score, choice in zip(scores, offered, strict=True):
            plain, context = 0.0, list(asked)
            for token in choice:
                logits = network(torch.tensor([context])).logits[0, -1]
                plain += float(logits.log_softmax(-1)[token])
                context.append(token)
            assert score == pytest.approx(plain, abs=1e-3)
    ranked = [
        FILMS[place] for place in sorted(range(6), key=lambda place: -scores[place])
    ]
    one, three = answering.complete(
        [prompt("Name a film.", 0, None, *FILMS), prompt("Name a film.", 0, 3, *FILMS)],
    )
    assert (one.text, one.finish_reason) == (ranked[0], "choice")
    assert three.text == "\n".join(ranked[:3])
    assert three.usage is not None
    assert three.usage.prompt_tokens == len(asked)


def test_how_answers_are_made_is_part_of_the_identity(folder: Path) -> None:
    default = model(folder).identity
    for how, differs in (
        ({"exact": True}, {"batch"}),
        ({"answer": "choices"}, {"answer"}),
        ({"stop_at_k": False}, {"stop_at_k"}),
        ({"batch": 4}, {"batch"}),
    ):
        other = model(folder, **how).identity
        assert {key for key in default if default[key] != other[key]} == differs
    assert model(folder, answer="choices").identity["answer"] == SCORING


def test_a_model_may_be_divided_among_devices(folder: Path) -> None:
    divided = HFModel(str(folder), device_map="auto", max_tokens=16)
    assert texts(divided.complete(fifty()[:3])) == texts(
        model(folder).complete(fifty()[:3]),
    )
    assert divided.identity["device"].endswith(", auto")


def test_a_batch_that_does_not_fit_is_halved(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write = decoding.write
    sizes = []

    def small(network, prompts, *how):  # type: ignore[no-untyped-def]
        sizes.append(len(prompts))
        if len(prompts) > 2 or huge in prompts:
            raise torch.OutOfMemoryError("of the test")
        return write(network, prompts, *how)

    monkeypatch.setattr(decoding, "write", small)
    answering = model(folder, batch=5)
    asked = [prompt(f"{n} Name a film.") for n in range(5)]
    huge = answering._local.encode(asked[3].messages)
    answers = answering.complete(asked)
    assert [answer.error is None for answer in answers] == [
        True,
        True,
        True,
        False,
        True,
    ]
    assert "of the test" in str(answers[3].error)
    assert sizes[0] == 5


CODE = """
import os
from transformers import LlamaConfig, LlamaForCausalLM
os.environ["RECSYS_CODE_RAN"] = "yes"
class Mine(LlamaConfig):
    model_type = "mine"
class Model(LlamaForCausalLM):
    config_class = Mine
"""


def test_code_of_a_model_runs_only_where_it_is_trusted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RECSYS_CODE_RAN", raising=False)
    folder = tiny.save(tmp_path / "mine")
    (folder / "mine.py").write_text(CODE)
    config = json.loads((folder / "config.json").read_text())
    config["model_type"] = "mine"
    config["auto_map"] = {
        "AutoConfig": "mine.Mine",
        "AutoModelForCausalLM": "mine.Model",
    }
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(
        RecommenderError,
        match=r"its own Python code.*trust_remote_code=true",
    ):
        model(folder).complete([prompt("Name")])
    config["auto_map"]["AutoConfig"] = "other/repository--mine.Mine"
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(RecommenderError, match="code of another repository"):
        model(folder, trust_remote_code=True).complete([prompt("Name")])
    assert "RECSYS_CODE_RAN" not in os.environ
    config["auto_map"]["AutoConfig"] = "mine.Mine"
    (folder / "config.json").write_text(json.dumps(config))
    trusted = model(folder, trust_remote_code=True)
    monkeypatch.setenv("RECSYS_CODE_RAN", "")
    assert trusted.complete([prompt("Name")])[0].usage is not None
    assert os.environ["RECSYS_CODE_RAN"] == "yes"
    before = trusted.identity["model"]
    (folder / "mine.py").write_text(CODE + "# changed\n")
    assert model(folder, trust_remote_code=True).identity["model"] != before
