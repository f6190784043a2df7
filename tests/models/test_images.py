"""Images in a prompt: what an endpoint is sent, what a key holds, who refuses them."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import pytest

from tests.extras import need

need("PIL")

from PIL import Image, ImageDraw

from pytest_recsys_mt.requests import Message, Prompt
from tests.models.faults import FaultServer, Reply, completion
from tests.support.calls import PER_MESSAGE, TextSubject, estimated, subject
from tests.support.llm_api import OpenAIModel


def drawn(colour: str, size: int = 16) -> str:
    """A square on white, as a data URL."""
    image = Image.new("RGB", (size, size), "white")
    ImageDraw.Draw(image).rectangle((4, 4, size - 5, size - 5), fill=colour)
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"


def shown(*images: str) -> Prompt:
    return Prompt((Message("user", "Which colour has the square?", images),))


def sees(payload: dict[str, Any]) -> Reply:
    """Answers with the colour in the middle of the first image."""
    url = payload["messages"][0]["content"][0]["image_url"]["url"]
    picture = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert(
        "RGB",
    )
    return Reply(completion(str(picture.getpixel((8, 8)))))


def test_an_endpoint_gets_images_as_parts_before_the_text(faulty: FaultServer) -> None:
    faulty.answer = sees
    model = OpenAIModel("gpt-4o-mini")
    answers = model.complete([shown(drawn("red")), shown(drawn("blue"))])
    assert [answer.text for answer in answers] == ["(255, 0, 0)", "(0, 0, 255)"]
    (message,) = faulty.asked[0]["messages"]
    assert [part["type"] for part in message["content"]] == ["image_url", "text"]
    assert message["content"][1]["text"] == "Which colour has the square?"
    model.close()


def test_a_message_without_images_is_sent_as_before(faulty: FaultServer) -> None:
    model = OpenAIModel("gpt-4o-mini")
    model.complete([shown()])
    assert faulty.asked[0]["messages"] == [
        {"role": "user", "content": "Which colour has the square?"},
    ]
    model.close()


def test_keys_tell_images_apart_and_hold_no_image(faulty: FaultServer) -> None:
    model = subject(OpenAIModel("gpt-4o-mini"), "openai:gpt-4o-mini", "person")
    assert isinstance(model, TextSubject)
    plain, red, blue = (
        model.prompt_call(prompt, 0)
        for prompt in (shown(), shown(drawn("red")), shown(drawn("blue")))
    )
    assert len({plain.key, red.key, blue.key}) == 3
    assert plain.content["messages"] == [["user", "Which colour has the square?"]]
    assert "base64" not in json.dumps(dict(red.content))


def test_images_count_as_tokens() -> None:
    assert estimated(shown(drawn("red"))) > estimated(shown()) + 100


def test_no_script_takes_more_tokens_than_estimated() -> None:
    # A tokenizer of bytes takes one token of each, as for hieroglyphs; of English about
    # four a token.
    titles = "𓀀𓁐𓂀 " * 20
    prompt = Prompt((Message("user", titles),))
    assert estimated(prompt) >= len(titles.encode()) - titles.count(" ")
    assert estimated(Prompt((Message("user", "Toy Story "),))) == PER_MESSAGE + 3


MODELS = """
from pytest_recsys_mt import Completion

class Blind:
    fingerprint = "blind"
    def complete(self, prompts):
        return [Completion("none") for prompt in prompts]

class Seeing(Blind):
    fingerprint = "seeing"
    reads_images = True
    def complete(self, prompts):
        return [Completion(str(len(prompt.messages[-1].images))) for prompt in prompts]
"""

TEST = """
from pytest_recsys_mt import Prompt
from pytest_recsys_mt.requests import Message

def test_it(recsys):
    answer, = recsys.texts.complete(Prompt((Message("user", "How many?", ("data:a", "data:b")),)))
    assert answer.text == "2"
"""


@pytest.mark.parametrize(
    ("model", "ends"),
    [("Blind", "skipped"), ("Seeing", "passed")],
)
def test_a_model_that_reads_no_images_is_not_asked(
    pytester: pytest.Pytester,
    model: str,
    ends: str,
) -> None:
    pytester.makepyfile(models=MODELS, test_own=TEST)
    pytester.syspathinsert()
    done = pytester.runpytest_inprocess(f"--recsys-model=models:{model}", "-rs")
    done.assert_outcomes(**{ends: 1})
    if ends == "skipped":
        done.stdout.fnmatch_lines(
            ["*needs a model that reads images, and models:Blind reads none*"],
        )
