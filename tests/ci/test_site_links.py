"""The built site: what it links to is there, and it loads nothing from elsewhere."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.extras import need

ROOT = Path(__file__).resolve().parents[2]
LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src"}


class Page(HTMLParser):
    """What a page links to and loads, and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors.add(given.get("id") or "")
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        if tag in LOADED and given.get(LOADED[tag]):
            self.loaded.append(str(given[LOADED[tag]]))


def broken(site: Path) -> Iterator[str]:
    """Each link and each loaded file of the site that leads
    nowhere, or that is loaded from elsewhere.
    """
    # The page for a missing page is shown at any address, so its links are absolute.
    pages = {
        path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"
    }
    for path, page in pages.items():
        where = path.relative_to(site)
        for target in (*page.links, *page.loaded):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loaded:
                    yield f"{where} loads {target}"
                continue
            found = (
                path
                if not parts.path
                else Path(path.parent, unquote(parts.path)).resolve()
            )
            if not (found.is_relative_to(site) and found.is_file()):
                yield f"{where} links to {target}"
            elif (
                found in pages
                and parts.fragment
                and parts.fragment not in pages[found].anchors
            ):
                yield f"{where} links to {target}, an anchor that is not there"


def built(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a copy of docs/."""
    need("zensical")
    return subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder, check=False, capture_output=True, text=True,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    return tmp_path


def test_every_link_of_the_site_leads_somewhere(folder: Path) -> None:
    done = built(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    site = folder / "site"
    assert len(list(site.rglob("*.html"))) > 40
    assert list(broken(site)) == []


@pytest.mark.parametrize(
    ("text", "status", "found"),
    [
        ("[gone](gone.md)", 1, "page does not exist"),
        ("[gone](faq.md#gone)", 1, "anchor does not exist"),
        ("![gone](gone.svg)", 0, "index.html links to gone.svg"),
        ("[gone](../zensical.toml)", 0, "index.html links to ../zensical.toml"),
        (
            '<img src="https://example.com/a.png">',
            0,
            "index.html loads https://example.com/a.png",
        ),
    ],
)
def test_a_broken_link_is_found(
    tmp_path: Path,
    text: str,
    status: int,
    found: str,
) -> None:
    (tmp_path / "docs").mkdir()
    settings = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    alone = re.sub(
        r"(?s)nav = \[\n.*?\n\]\n",
        'nav = ["index.md", "faq.md"]\n',
        settings,
    )
    (tmp_path / "zensical.toml").write_text(alone, encoding="utf-8")
    (tmp_path / "docs" / "index.md").write_text(f"# A\n\n{text}\n", encoding="utf-8")
    (tmp_path / "docs" / "faq.md").write_text("# B\n", encoding="utf-8")
    done = built(tmp_path)
    assert done.returncode == status, done.stdout + done.stderr
    said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    assert found in (said if status else "\n".join(broken(tmp_path / "site")))
