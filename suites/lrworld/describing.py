"""Descriptions of images, the basis of the questions of the kind ``image``."""

import json
from pathlib import Path

from pytest_recsys_mt.datasets.dataset import Dataset
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
) -> int:
    """Have a multimodal model describe each image of a dataset, write its text, and
    return how many it described.

    Put the file into the folder of the dataset as ``image_descriptions.jsonl``; its
    loader then gives the items the attribute ``image_description``. `domain` is the
    word for an item.
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
    answers = model.complete([describing(domain, image) for image in images.values()])
    said = [
        {"item": key, "description": " ".join(answer.text.split())}
        for key, answer in zip(images, answers, strict=True)
        if answer.text
    ]
    write_lines((json.dumps(record, ensure_ascii=False) for record in said), path)
    return len(said)
