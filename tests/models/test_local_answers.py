"""Local models with random weights: what a batch does to answers, and what it does not."""

import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from pytest_recsys_mt.errors import RecommenderError
from pytest_recsys_mt.requests import Completion, Message, Prompt
from tests.extras import need
from tests.models import tiny
from tests.plugin.conftest import record_of

need("transformers", "torch")

import torch

from pytest_recsys_mt.llm.local import decoding, fixed_answers, kv_cache
from pytest_recsys_mt.llm.local.batches import Group
from pytest_recsys_mt.llm.local.hf_model import SCORING, HFModel

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
    pytester: pytest.Pytester, folder: Path
) -> None:
    pytester.makepyfile(
        """
        from pytest_recsys_mt.oracles import no_repeats

        def test_it(recsys):
            no_repeats(recsys.run(), margin=0.5)
        """
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
def test_exact_answers_do_not_depend_on_the_batch(folder: Path, temperature: float) -> None:
    asked = fifty()
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
    folder: Path, temperature: float
) -> None:
    """In float32 rounding decides no draw here; what is tested is the arithmetic of batches."""
    asked = fifty()
    plain = model(folder, exact=True, temperature=temperature).complete(asked)
    for most in (None, 7):
        batched = model(folder, batch=most, temperature=temperature).complete(asked)
        assert texts(batched) == texts(plain)
        assert [one.usage for one in batched] == [one.usage for one in plain]


def test_reading_in_small_steps_changes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = fifty()
    whole = texts(model(folder).complete(asked))
    monkeypatch.setitem(kv_cache.STEP, "cpu", 40)
    assert texts(model(folder).complete(asked)) == whole


@pytest.mark.parametrize(
    ("kind", "sizes", "rearranged"),
    [
        ("llama", {}, True),
        ("qwen3", {}, True),
        ("gpt2", {"n_embd": 32, "n_head": 4, "n_layer": 2, "n_positions": 512}, True),
        ("gemma3_text", {"sliding_window": 8, "query_pre_attn_scalar": 8}, False),
    ],
)
def test_every_architecture_answers_as_generate_does(
    tmp_path: Path, kind: str, sizes: dict[str, int], rearranged: bool
) -> None:
    network = model(tiny.save(tmp_path, kind, **sizes))
    loaded = network._local.network
    assert kv_cache.fits(loaded) == rearranged
    for one in fifty()[::10]:
        tokens = torch.tensor([network._local.encode(one.messages)])
        mask = torch.ones_like(tokens)
        written = loaded.generate(input_ids=tokens, attention_mask=mask, max_new_tokens=16)
        expected = network._local.decode(written[0, tokens.shape[1] :].tolist())
        among = network.complete([one, *fifty()])[0]
        assert (among.text or "") == expected


def test_a_shared_beginning_is_computed_once(folder: Path) -> None:
    network = model(folder)._local.network
    head = tuple(range(10, 60))
    prompts = [(*head, 5, 6, 7), (*head, 8), (*head, 5, 6, 7)]
    widths = []
    hook = network.register_forward_pre_hook(
        lambda _, __, given: widths.append(tuple(given["input_ids"].shape)), with_kwargs=True
    )
    with torch.inference_mode():
        together = decoding.read(network, prompts, (Group(50, (0, 1, 2)),)).logits
        hook.remove()
        alone = [network(torch.tensor([one])).logits[0, -1] for one in prompts]
    assert widths == [(1, 50), (2, 3)]
    assert torch.allclose(together, torch.stack(alone), atol=1e-4)


class Script:
    """Instead of a model's reading: each row goes on with a text that is fixed."""

    def __init__(self, *answers: str) -> None:
        tokenizer = tiny.tokenizer()
        self.rows = [[*tokenizer(answer)["input_ids"], 2] for answer in answers]
        self.widths: list[int] = []

    @property
    def logits(self):  # type: ignore[no-untyped-def]
        self.widths.append(len(self.rows))
        return torch.nn.functional.one_hot(torch.tensor([row[0] for row in self.rows]), 300).float()

    def read(self, tokens: list[list[int]]) -> None:
        self.rows = [row[1:] or [2] for row in self.rows]

    def select(self, places: list[int]) -> None:
        self.rows = [self.rows[place] for place in places]


@pytest.mark.parametrize(
    ("k", "expected"),
    [(2, "1. Heat\n2. Up\n"), (1, "1. Heat\n"), (None, "1. Heat\n2. Up\n3. Fargo\n")],
)
def test_an_answer_ends_with_the_line_of_its_last_entry(
    folder: Path, monkeypatch: pytest.MonkeyPatch, k: int | None, expected: str
) -> None:
    script = Script("1. Heat\n2. Up\n3. Fargo\n", "Up\nHeat\n")
    monkeypatch.setattr(decoding, "read", lambda *_: script)
    tokenizer = tiny.tokenizer()
    assert tokenizer.eos_token_id == 2
    how = decoding.Writing(60, frozenset({2}), partial(tokenizer.decode, skip_special_tokens=True))
    network = model(folder)._local.network
    rows = decoding.write(network, [(), ()], (Group(0, (0, 1)),), [0, 0], [k, k], how)
    # Lines of their own are no entries, so the second ends by itself.
    assert [how.decode(row) for row in rows] == [expected, "Up\nHeat\n"]
    # The row that has ended left the batch.
    assert (script.widths[0], script.widths[-1]) == (2, 1)


class Dice(Script):
    """Rows without a text of their own go on with anything."""

    def __init__(self, *answers: str) -> None:
        super().__init__(*answers)
        self.rows = [
            row if answer else [0] * 99 for row, answer in zip(self.rows, answers, strict=True)
        ]

    @property
    def logits(self):  # type: ignore[no-untyped-def]
        sure = [1e4 if row[0] else 0.0 for row in self.rows]
        return super().logits * torch.tensor(sure)[:, None]


def test_a_row_keeps_its_draws_when_others_have_ended(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = decoding.Writing(20, frozenset({2}), tiny.tokenizer().decode, temperature=1.0)
    network = model(folder)._local.network

    def written(*rows: tuple[str, int]) -> list[list[int]]:
        texts, seeds = zip(*rows, strict=True)
        monkeypatch.setattr(decoding, "read", lambda *_: Dice(*texts))
        members = tuple(range(len(rows)))
        none = [None for _ in rows]
        return decoding.write(network, [() for _ in rows], (Group(0, members),), seeds, none, how)

    *_, among = written(("Up", 1), ("Heat", 2), ("", 3))
    (alone,) = written(("", 3))
    assert among == alone
    assert len(among) == 20


@pytest.mark.parametrize("kind", ["llama", "gemma3_text"])
def test_choices_have_the_probability_of_being_written(tmp_path: Path, kind: str) -> None:
    sizes = {"sliding_window": 8, "query_pre_attn_scalar": 8} if kind != "llama" else {}
    answering = model(tiny.save(tmp_path, kind, **sizes), answer="choices")
    network, local = answering._local.network, answering._local
    asked = local.encode((Message("user", "Name a film."),))
    offered = [local.encode_answer(film) for film in FILMS]
    with torch.inference_mode():
        scores = fixed_answers.log_probabilities(network, asked, offered)
        for score, choice in zip(scores, offered, strict=True):
            plain, context = 0.0, list(asked)
            for token in choice:
                logits = network(torch.tensor([context])).logits[0, -1]
                plain += float(logits.log_softmax(-1)[token])
                context.append(token)
            assert score == pytest.approx(plain, abs=1e-3)
    ranked = [FILMS[place] for place in sorted(range(6), key=lambda place: -scores[place])]
    one, three = answering.complete(
        [prompt("Name a film.", 0, None, *FILMS), prompt("Name a film.", 0, 3, *FILMS)]
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
    assert texts(divided.complete(fifty()[:3])) == texts(model(folder).complete(fifty()[:3]))
    assert divided.identity["device"].endswith(", auto")


def test_a_batch_that_does_not_fit_is_halved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = decoding.write
    sizes = []

    def small(network, prompts, batch, seeds, lines, how):  # type: ignore[no-untyped-def]
        rows = sum(len(group.members) for group in batch)
        sizes.append(rows)
        if rows > 2 or any(prompts[group.members[0]] == huge for group in batch):
            raise torch.OutOfMemoryError("of the test")
        return write(network, prompts, batch, seeds, lines, how)

    monkeypatch.setattr(decoding, "write", small)
    answering = model(folder, batch=5)
    asked = [prompt(f"{n} Name a film.") for n in range(5)]
    huge = answering._local.encode(asked[3].messages)
    answers = answering.complete(asked)
    assert [answer.error is None for answer in answers] == [True, True, True, False, True]
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECSYS_CODE_RAN", raising=False)
    folder = tiny.save(tmp_path / "mine")
    (folder / "mine.py").write_text(CODE)
    config = json.loads((folder / "config.json").read_text())
    config["model_type"] = "mine"
    config["auto_map"] = {"AutoConfig": "mine.Mine", "AutoModelForCausalLM": "mine.Model"}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(RecommenderError, match=r"its own Python code.*trust_remote_code=true"):
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
