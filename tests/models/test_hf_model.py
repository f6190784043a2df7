import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.requests import Completion, Message, Prompt
from tests.models import servers
from tests.support.llm_local import HFModel

pytestmark = pytest.mark.model

SHORT = "Name a film."
LONG = (
    "I liked Heat (1995), Alien (1979) and Brazil (1985). Which film should I see next?"
)


def prompt(text: str = SHORT, seed: int = 0) -> Prompt:
    return Prompt((Message("user", text),), seed)


def texts(answers: list[Completion]) -> list[str | None]:
    return [answer.text for answer in answers]


@pytest.fixture(scope="module")
def greedy(smollm_folder: Path) -> HFModel:
    return HFModel(
        str(smollm_folder),
        max_tokens=12,
        dtype="float32",
        device="cpu",
        batch=2,
    )


@pytest.fixture(scope="module")
def sampling(smollm_folder: Path) -> HFModel:
    return HFModel(
        str(smollm_folder),
        temperature=1.0,
        max_tokens=6,
        dtype="float32",
        device="cpu",
        batch=4,
    )


def test_greedy_answers_repeat(greedy: HFModel) -> None:
    first, again = greedy.complete([prompt()]), greedy.complete([prompt(seed=1)])
    assert first == again
    assert first[0].text


def test_tokens_are_counted(greedy: HFModel) -> None:
    (answer,) = greedy.complete([prompt()])
    assert answer.usage is not None
    # The chat template adds a system message.
    assert 20 < answer.usage.prompt_tokens < 50
    assert answer.finish_reason == "length"
    assert answer.usage.completion_tokens == 12
    (word,) = greedy.complete([prompt("Answer with the one word: yes")])
    assert word.finish_reason == "stop"
    assert word.usage is not None
    assert word.text is not None
    # The token that ends the answer counts, and is not shown.
    assert (
        word.usage.completion_tokens
        == len(greedy._local.tokenizer(word.text)["input_ids"]) + 1
    )


def test_a_sampled_answer_depends_on_its_seed_and_not_on_its_batch(
    sampling: HFModel,
) -> None:
    others = [prompt(LONG, 5), prompt(SHORT, 6), prompt(LONG * 2, 7)]
    (alone,) = sampling.complete([prompt(seed=1)])
    *_, among = sampling.complete([*others, prompt(seed=1)])
    assert among.text == alone.text
    (other,) = sampling.complete([prompt(seed=2)])
    assert other.text != alone.text


def test_order_is_kept_and_answers_come_batch_by_batch(greedy: HFModel) -> None:
    prompts = [
        prompt(title * 8 * n) for n, title in ((1, "Heat "), (3, "Up "), (2, "Alien "))
    ]
    arrived = [*itertools.chain.from_iterable(greedy.complete_each(prompts))]
    assert [index for index, _ in arrived] == [1, 2, 0]
    answers = greedy.complete(prompts)
    assert answers == [
        answer for _, answer in sorted(arrived, key=lambda pair: pair[0])
    ]
    counts = [answer.usage.prompt_tokens for answer in answers if answer.usage]
    assert counts[0] < counts[2] < counts[1]


def test_a_prompt_that_is_too_long_is_an_answer_with_a_reason(greedy: HFModel) -> None:
    long, short = greedy.complete([prompt("film " * 9000), prompt()])
    assert long.error is not None
    assert "reads 8192 with the answer's 12" in long.error
    assert short.text


def test_a_model_without_a_chat_template_gets_plain_text(smollm_folder: Path) -> None:
    model = HFModel(str(smollm_folder), max_tokens=3, dtype="float32", device="cpu")
    model._local.tokenizer.chat_template = None
    (answer,) = model.complete([prompt("one two three four")])
    assert answer.usage is not None
    assert answer.usage.prompt_tokens == len(
        model._local.tokenizer("one two three four")["input_ids"],
    )


def test_the_identity_is_that_of_the_content(
    smollm_folder: Path,
    greedy: HFModel,
) -> None:
    identity = greedy.identity
    assert identity["model"]["id"] == smollm_folder.name
    assert len(identity["model"]["sha256"]) == 64
    assert identity["dtype"] == "float32"
    colder = HFModel(
        str(smollm_folder),
        temperature=0.5,
        max_tokens=12,
        device="cpu",
        batch=2,
    )
    assert {k for k, v in colder.identity.items() if v != identity[k]} == {"sampling"}


def test_a_gguf_file_is_loaded_from_its_converted_folder(
    smollm_folder: Path,
    greedy: HFModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(servers.USER_CACHE))
    gguf = servers.smollm_gguf()
    model = HFModel.from_spec(f"hf:{gguf}?max_tokens=12&dtype=float32&device=cpu")
    made = (smollm_folder / "config.json").stat().st_mtime_ns
    assert texts(model.complete([prompt()])) == texts(greedy.complete([prompt()]))
    assert (smollm_folder / "config.json").stat().st_mtime_ns == made, (
        "it was converted again"
    )
    assert model.identity["model"]["id"] == gguf.name


def test_weights_that_could_run_code_are_not_loaded(
    smollm_folder: Path,
    tmp_path: Path,
) -> None:
    for file in smollm_folder.iterdir():
        if file.suffix != ".safetensors":
            (tmp_path / file.name).symlink_to(file)
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04cos\nsystem\n")
    with pytest.raises(RecommenderError, match="weights in safetensors"):
        HFModel(str(tmp_path), device="cpu").complete([prompt()])


@pytest.mark.slow  # a process of its own, with transformers
def test_a_model_of_the_hub_is_known_by_its_commit(
    smollm_folder: Path,
    tmp_path: Path,
) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    cached = tmp_path / "hub" / "models--org--tiny"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text(commit)
    (cached / "snapshots").mkdir()
    (cached / "snapshots" / commit).symlink_to(smollm_folder)
    program = (
        "from pytest_recsys_mt.safety.errors import RecommenderError\n"
        "from pytest_recsys_mt.llm.local.hf_model import HFModel\n"
        "from pytest_recsys_mt.requests import Message, Prompt\n"
        "model = HFModel('org/tiny', max_tokens=3, device='cpu')\n"
        "print(model.identity['model'])\n"
        "(answer,) = model.complete([Prompt((Message('user', 'Name a film.'),))])\n"
        "print(answer.usage.completion_tokens)\n"
        "try:\n"
        "    HFModel('org/none').identity\n"
        "except RecommenderError as error:\n"
        "    print('neither a file or folder here' in str(error))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )
    assert done.stdout.splitlines() == [
        f"{{'id': 'org/tiny', 'revision': '{commit}'}}",
        "3",
        "True",
    ]
    assert (done.stderr, done.returncode) == ("", 0)


def test_an_unknown_device_says_what_to_do(smollm_folder: Path) -> None:
    with pytest.raises(RecommenderError, match="leave it out"):
        HFModel(str(smollm_folder), device="abacus").complete([prompt()])


@pytest.mark.slow
def test_exact_answers_do_not_depend_on_their_neighbours(smollm_folder: Path) -> None:
    exact = HFModel(str(smollm_folder), max_tokens=3, device="cpu", exact=True)
    films = ("Heat", "Alien", "Brazil", "Up", "Fargo")
    asked = [
        prompt(f"Name {n} films like {film}.") for n in range(1, 11) for film in films
    ]
    together = texts(exact.complete(asked))
    assert texts([exact.complete([one])[0] for one in asked]) == together
    assert texts(exact.complete(asked[::-1]))[::-1] == together
    assert len(set(together)) > 5
