"""The matrix, the score and the survivors as one page of HTML that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from pytest_recsys_mt.adequacy.document import Adequacy
from pytest_recsys_mt.adequacy.lines import advice, effect_text, score_text, to_add
from pytest_recsys_mt.errors import MissingExtraError
from pytest_recsys_mt.sanitize import clean

TEMPLATE = Path(__file__).parent / "templates" / "adequacy.html.j2"

MARKS = {"killed": "✕", "survived": "·", "unclear": "?"}

STYLE = """
:root { color-scheme: light dark; --line: #8885; --good: #1a7f37; --bad: #cf222e; --open: #9a6700; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-size: .85rem; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .15rem .4rem; text-align: left; }
td.cell, th.test { text-align: center; }
.killed { color: var(--good); } .survived { color: var(--bad); } .unclear { color: var(--open); }
pre { border: 1px solid var(--line); padding: .7rem; overflow-x: auto; }
.score { font-size: 1.2rem; } li { margin: .3rem 0; }
"""


def require_jinja() -> None:
    """Check that the library that fills the page is installed."""
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"the HTML page needs Jinja2 ({error}); install it with: pip install 'pytest-recsys-mt[html]'"
        ) from error


def render(found: Adequacy) -> str:
    """The page of a document. The same document gives the same page."""
    require_jinja()
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return made.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        found=clean(found),
        marks=MARKS,
        score_text=score_text,
        effect_text=effect_text,
        to_add=to_add,
        advice=advice,
        style=Markup(STYLE),  # ours, not the user's
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
    )
