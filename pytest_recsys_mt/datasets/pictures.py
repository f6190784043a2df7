"""Pictures of items (``posters/17.jpg``), and their descriptions by a multimodal model, one a line:
``{"item": "17", "description": "A red square."}``.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pytest_recsys_mt.datasets.json_lines import records
from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.requests import Item

DESCRIPTIONS = "image_descriptions.jsonl"
_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp"})


def with_pictures(items: Mapping[str, Item], folder: Path) -> dict[str, Item]:
    """A catalogue with pictures and their descriptions."""
    found: dict[str, dict[str, str]] = {}
    if (folder / "posters").is_dir():
        for path in sorted((folder / "posters").iterdir()):
            if path.suffix.lower() in _SUFFIXES:
                found.setdefault(path.stem, {})["image"] = str(path.resolve())
    if (folder / DESCRIPTIONS).is_file():
        for number, record in records(folder / DESCRIPTIONS, json.loads):
            key, text = record.get("item"), record.get("description")
            if not isinstance(key, str) or not isinstance(text, str):
                raise DataError(
                    f"{str(folder / DESCRIPTIONS)!r}, line {number}: a record needs the texts item "
                    f"and description"
                )
            found.setdefault(key, {})["image_description"] = text
    return {
        key: replace(item, attributes={**item.attributes, **found[key]}) if key in found else item
        for key, item in items.items()
    }
