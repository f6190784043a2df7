"""Descriptions of images, the basis of the questions of the kind ``image``."""

import json
from pathlib import Path

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.extensions import paper_prompts
from pytest_recsys_mt.llm import prompt_texts
from pytest_recsys_mt.requests import TextModel
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.suites.lrworld.question import write_lines
from pytest_recsys_mt.suites.lrworld.question_texts import describing


def describe(
    model: TextModel,
    dataset: Dataset,
    path: Path | str,
    *,
    domain: str,
    prompts: str | None = None,
) -> int:
    """Have a multimodal model describe each image of a dataset, write its text, and
    return how many it described.

    Put the file into the folder of the dataset as ``image_descriptions.jsonl``; its
    loader then gives the items the attribute ``image_description``. `domain` is the
    word for an item. `prompts` is a value of ``--recsys-prompts``: with ``paper``, the
    image of a movie is described as the paper's figure 3 asks for it.
    """
    if not getattr(model, "reads_images", False):
        raise NotApplicable(
            f"needs a model that reads images, and {model!r} reads none",
        )
    images = {
        key: str(item.attributes["image"])
        for key, item in dataset.items.items()
        if item.attributes.get("image")
    }
    if not images:
        raise NotApplicable(f"{dataset.name}: no item has the attribute 'image'")
    texts = None if prompts is None else prompt_texts.read(prompts, paper_prompts())
    prompt_texts.use(texts)
    try:
        asked = [describing(domain, image) for image in images.values()]
    finally:
        prompt_texts.leave()
    answers = model.complete(asked)
    said = [
        {"item": key, "description": " ".join(answer.text.split())}
        for key, answer in zip(images, answers, strict=True)
        if answer.text
    ]
    write_lines((json.dumps(record, ensure_ascii=False) for record in said), path)
    return len(said)
