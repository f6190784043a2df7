"""Image-text models of transformers, with random weights:
none of any use could be had for a test.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.requests import Message, Prompt
from tests.extras import need
from tests.models import tiny
from tests.support.recommenders import resolve

need("PIL")

from tests.models.test_images import drawn

TEMPLATE = (
    "{% for message in messages %}{{ message.role }}: {% for part in message.content %}"
    "{% if part.type == 'image' %}<image>{% else %}{{ part.text }}{% endif %}{% endfor %}\n"
    "{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"
)


def save(folder: Path, template: str | None = TEMPLATE) -> Path:
    """A LLaVA of a few thousand weights, drawn from a seed, with its processor."""
    need("transformers", "torch")
    import torch
    from transformers import (
        AutoModelForImageTextToText,
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaProcessor,
    )

    words = tiny.tokenizer()
    words.add_special_tokens({"additional_special_tokens": ["<image>"]})
    mark = words.convert_tokens_to_ids("<image>")
    sizes: dict[str, Any] = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "initializer_range": 0.5,
    }
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(
            image_size=16,
            patch_size=8,
            projection_dim=32,
            **sizes,
        ),
        text_config=LlamaConfig(
            vocab_size=len(words),
            max_position_embeddings=512,
            bos_token_id=words.bos_token_id,
            eos_token_id=words.eos_token_id,
            pad_token_id=words.pad_token_id,
            **sizes,
        ),
        image_token_index=mark,
        image_seq_length=4,
    )
    with torch.random.fork_rng():
        torch.manual_seed(1)
        make: Any = AutoModelForImageTextToText.from_config
        make(config).save_pretrained(folder)
    processor: Any = LlavaProcessor
    processor(
        CLIPImageProcessor(
            size={"height": 16, "width": 16},
            crop_size={"height": 16, "width": 16},
        ),
        words,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=template,
        image_token="<image>",
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def llava(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("llava"))


def asked(*images: str) -> Prompt:
    return Prompt((Message("user", "Which colour?", images),))


def test_the_answer_depends_on_the_image_and_is_the_same_again(llava: Path) -> None:
    model: Any = resolve(f"hf:{llava}?images=true&max_tokens=12", exact=True)
    assert (model.reads_images, model.deterministic) == (True, True)
    red, blue, none, both = model.complete(
        [
            asked(drawn("red")),
            asked(drawn("blue")),
            asked(),
            asked(drawn("red"), drawn("blue")),
        ],
    )
    assert [each.error for each in (red, blue, none, both)] == [None] * 4
    assert red.usage.prompt_tokens == none.usage.prompt_tokens + 4, "four patches"
    assert both.usage.prompt_tokens == none.usage.prompt_tokens + 8
    assert red.text != blue.text
    again: Any = resolve(f"hf:{llava}?images=true&max_tokens=12", exact=True)
    assert again.complete([asked(drawn("red"))]) == [red]
    assert again.identity == model.identity


def test_a_processor_without_a_template_gets_marks_before_the_text(
    tmp_path: Path,
) -> None:
    model: Any = resolve(f"hf:{save(tmp_path, None)}?images=true&max_tokens=3")
    plain, shown = model.complete([asked(), asked(drawn("red"))])
    assert shown.error is None
    assert shown.usage.prompt_tokens > plain.usage.prompt_tokens + 4


@pytest.mark.parametrize(
    "image",
    ["data:image/png;base64,AAAA", "data:image/png,x", "http://a.b/1"],
)
def test_a_damaged_image_is_the_failure_of_its_call_alone(
    llava: Path,
    image: str,
) -> None:
    model: Any = resolve(f"hf:{llava}?images=true&max_tokens=3")
    bad, good = model.complete([asked(image), asked(drawn("red"))])
    assert bad.text is None
    assert "image" in bad.error
    assert good.error is None


def test_a_prompt_that_is_too_long_says_so(llava: Path) -> None:
    model: Any = resolve(f"hf:{llava}?images=true")
    (answer,) = model.complete([Prompt((Message("user", "x" * 600, (drawn("red"),)),))])
    assert "tokens with its images" in answer.error


def test_a_model_without_eyes_is_refused(tmp_path: Path) -> None:
    model: Any = resolve(f"hf:{tiny.save(tmp_path)}?images=true")
    with pytest.raises(RecommenderError, match=r"reads no images|cannot be loaded"):
        model.complete([asked(drawn("red"))])
    with pytest.raises(RecommenderError, match="max_tokens must be at least 1, got 0"):
        resolve(f"hf:{tmp_path}?images=true&max_tokens=0")
