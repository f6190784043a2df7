"""Figures of matplotlib as inline SVG for a strict page with two colour schemes.

The page allows only its own style, so style attributes become presentation attributes. Colours
become the page's variables, so that one drawing works in light, dark and print.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from matplotlib.figure import Figure

INK, MUTED, LINE, ZONE, PAPER = "#000001", "#000002", "#000003", "#000004", "#000005"
SERIES = ("#000011", "#000012", "#000013", "#000014")
OF_STATE = {
    "violated": "#000021",
    "error": "#000021",
    "mended": "#000021",
    "known": "#000022",
    "inconclusive": "#000022",
    "holds": "#000023",
    "not-applicable": "#000002",
}
"""Colours to draw with. They are placeholders: `VARIABLES` maps them to the page's variables."""

VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    LINE: "line",
    ZONE: "zone",
    PAPER: "paper",
    **{colour: f"series-{number}" for number, colour in enumerate(SERIES, 1)},
    "#000021": "bad",
    "#000022": "unclear",
    "#000023": "good",
}

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_KEPT = frozenset(
    {
        "fill", "stroke", "stroke-width", "stroke-linejoin", "stroke-linecap", "stroke-dasharray",
        "stroke-dashoffset", "stroke-opacity", "fill-opacity", "opacity", "text-anchor",
        "font-size", "font-weight",
    }
)  # fmt: skip
_REFERENCE = re.compile(r"#([\w-]+)")


@contextmanager
def drawing() -> Iterator[Callable[[float, float], Figure]]:
    """Make figures inside, whatever matplotlib's settings are elsewhere.

    Yields a function that makes figures of a given width and height in pixels.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        # A title may be in any script; browsers have letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "svg.fonttype": "none",
                "svg.hashsalt": "recsys-mt",
                "text.parse_math": False,
                "font.size": 12,
                "text.color": INK,
                "axes.edgecolor": LINE,
                "axes.labelcolor": MUTED,
                "axes.spines.top": False,
                "axes.spines.right": False,
                "xtick.color": MUTED,
                "ytick.color": MUTED,
                "legend.frameon": False,
            }
        )
        yield lambda width, height: Figure(figsize=(width / 72, height / 72), dpi=72)


def inline(figure: Figure, name: str, label: str) -> str:
    """`figure` as an element of an HTML page.

    Args:
        figure: Drawn with the colours of this module.
        name: Starts every id in it, so that no two figures of a page share one.
        label: What the figure shows, for those who cannot see it; empty if the text beside it
            says the same.
    """
    stream = io.BytesIO()
    nothing = dict.fromkeys(("Date", "Creator", "Type", "Format"))
    figure.savefig(stream, format="svg", transparent=True, metadata=nothing)
    root = ElementTree.fromstring(stream.getvalue())
    for parent in root.iter():
        for child in list(parent):
            if child.tag in (f"{_SVG}style", f"{_SVG}metadata"):
                parent.remove(child)
    referred = {
        found
        for element in root.iter()
        for value in element.attrib.values()
        for found in _REFERENCE.findall(value)
    }
    for element in root.iter():
        _plain(element, name, referred)
    for attribute in ("width", "height", "version"):
        root.attrib.pop(attribute, None)
    root.attrib.update({"stroke-linejoin": "round", "stroke-linecap": "butt", "class": "figure"})
    root.attrib.update({"role": "img", "aria-label": label} if label else {"aria-hidden": "true"})
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


def _plain(element: Element, name: str, referred: set[str]) -> None:
    """Remove from an element what a page does not allow or need."""
    element.tag = element.tag.removeprefix(_SVG)
    style = element.attrib.pop("style", "")
    for declaration in filter(None, style.split(";")):
        key, _, value = (part.strip() for part in declaration.partition(":"))
        if key in _KEPT:
            variable = VARIABLES.get(value)
            element.set(key, value if variable is None else f"var(--{variable})")
    link = element.attrib.pop(_LINK, None)
    if link is not None:
        element.set("href", link)
    own = element.attrib.pop("id", None)
    if own in referred:
        element.set("id", f"{name}-{own}")
    for key in ("href", "clip-path"):
        if key in element.attrib:
            element.set(key, _REFERENCE.sub(rf"#{name}-\1", element.attrib[key]))
    if "d" in element.attrib:
        element.set("d", " ".join(element.attrib["d"].split()))
