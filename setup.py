"""The long description: README.md with links that work on a package index, too."""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)]+)\)")


def absolute(link: re.Match[str]) -> str:
    """A link into the repository with its address: pictures
    raw, pages as the forge shows them.
    """
    mark, text, target = link.groups()
    kind = "raw" if mark else "blob"
    return f"{mark}[{text}]({PROJECT['urls']['Repository']}/{kind}/main/{target})"


setup(
    long_description=LINK.sub(
        absolute,
        (ROOT / "README.md").read_text(encoding="utf-8"),
    ),
    long_description_content_type="text/markdown",
)
