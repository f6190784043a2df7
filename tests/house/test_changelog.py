"""Every fragment of the changelog is of a type that
`scripts/release` puts into a section.
"""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TYPES = {each["directory"] for each in PROJECT["tool"]["towncrier"]["type"]}
FRAGMENTS = [
    file for file in (ROOT / "changelog.d").iterdir() if file.name != "README.md"
]


def test_every_fragment_has_a_declared_type() -> None:
    # towncrier drops any other in silence, and leaves it there for good.
    names = [file.name for file in FRAGMENTS]
    odd = [
        name
        for name in names
        if name.split(".")[1:] not in [[kind, "md"] for kind in TYPES]
    ]
    assert not odd, f"{sorted(odd)}: the types are {sorted(TYPES)}"


def test_no_fragment_is_empty_or_brings_a_bullet_of_its_own() -> None:
    for file in FRAGMENTS:
        text = file.read_text(encoding="utf-8")
        assert text.strip(), file.name
        assert not text.startswith(("* ", "- ")), (
            f"{file.name}: the section has the bullets"
        )
