"""Records by hand, for pages of known content."""

from __future__ import annotations

from typing import Any

FILMS = [
    f"Film {letter} (19{number})"
    for number, letter in enumerate("ABCDEFGHIJKLMNOP", 60)
]


def example(user: str = "u1", **changes: Any) -> dict[str, Any]:
    made = {
        "user": user,
        "source": FILMS[:10],
        "followup": [
            FILMS[1],
            FILMS[0],
            *FILMS[2:8],
            FILMS[10],
            "Nine Lives: The Lost Reel",
        ],
        "score": 0.81,
        "source_kinds": [],
        "followup_kinds": ["candidate"] * 8 + ["catalogue", "unknown"],
        "keeps": False,
    }
    return {**made, **changes}


def row(number: int = 0, **changes: Any) -> Any:
    """A row of the record; a violation unless `changes` say otherwise."""
    made = {
        "nodeid": f"suites/metamorphic/test_it.py::test_order_is_irrelevant[m-shuffle-{number}]",
        "suite": "metamorphic", "relation": f"shuffle({number})", "promise": "The ranking stays.",
        "model": "m", "oracle": "same_ranking:rbo", "status": "violated", "outcome": "failed",
        "expected": "holds", "estimate": 0.21, "interval": [0.15, 0.27], "floor": 0.9,
        "agreement": 0.69, "margin": 0.05, "allowed": "at most",
        "measures": "loss of agreement beyond noise", "p_value": 0.0004,
        "p_holm": 0.004, "p_bh": 0.002, "users": 60, "not_applicable": 0, "errors": 0, "looks": 2,
        "reason": "", "examples": [example(), example("u2", keeps=True)], "details": {},
        "shrunk": None,
    }  # fmt: skip
    return {**made, **changes}


def holds(number: int = 0, **changes: Any) -> Any:
    made = {
        "status": "holds", "outcome": "passed", "estimate": 0.01, "interval": [-0.01, 0.03],
        "p_value": 0.9, "p_holm": 1.0, "p_bh": 1.0,
    }  # fmt: skip
    return row(number, **{**made, **changes})


def task(metric: str, value: float, **changes: Any) -> Any:
    """A row of a benchmark task."""
    made = {
        "nodeid": f"suites/arena/test_tasks.py::test_accuracy[{changes.get('model', 'm')}-{metric}]",
        "suite": "arena", "relation": "", "oracle": f"at_least:{metric}", "metric": metric,
        "value": value, "threshold": 0.1, "allowed": "at least", "estimate": None, "margin": None,
        "interval": [value - 0.02, value + 0.02], "measures": "", "floor": None, "agreement": None, "examples": [],
        "promise": "The mean score over users must reach the threshold.",
    }  # fmt: skip
    return holds(**{**made, **changes})


def document(*rows: dict[str, Any], **changes: Any) -> Any:
    violated = [r["nodeid"] for r in rows if r["status"] == "violated" != r["expected"]]
    made = {
        "schema": "recsys-mt/1", "version": "0.1.0", "models": sorted({r["model"] for r in rows}),
        "data": "mini", "data_digest": "ab" * 32, "seed": 0,
        "settings": {"users": 100, "alpha": 0.05, "prompt": None},
        "environment": {"python": "3.11.7", "machine": "Linux x86_64"},
        "time": {"started": "2026-11-21T10:00:00+00:00", "seconds": 12.5},
        "calls": {
            "planned": 1200, "cached": 200, "made": 990, "failed": 10, "prompt_tokens": 120000,
            "completion_tokens": 9000, "usd": 0.42, "cut_off": 3, "cut_off_usd": 0.03,
            "failed_usd_at_most": 0.05, "by": [
                {
                    "suite": "popularity", "model": "m", "purpose": "follow-up", "made": 1990, "cached": 7,
                    "failed": 1, "again": 0, "attempts": 1995, "prompt_tokens": 8000,
                    "completion_tokens": 900, "usd": None, "usd_at_most": 0.5,
                },
            ],
        },
        "results": list(rows),
        "gate": {
            "status": "failed" if violated else "passed", "violated": violated,
            "inconclusive": [r["nodeid"] for r in rows if r["status"] == "inconclusive"],
            "reasons": [f"violated: {nodeid}" for nodeid in violated],
        },
    }  # fmt: skip
    return {**made, **changes}


SHRUNK: dict[str, Any] = {
    "user": "u1", "effect": 0.3, "score": 0.4, "calls": 31, "minimal": True,
    "source": {
        "user": "u1",
        "history": [{"item": "a", "title": FILMS[12], "rating": 4.0, "timestamp": None}],
        "scale": [1.0, 5.0],
        "candidates": [{"item": "b", "title": FILMS[0]}, {"item": "c", "title": FILMS[1]}],
        "k": 2, "instruction": "", "edits": [], "answer": [FILMS[0], FILMS[1]], "kinds": [],
    },
    "followup": {
        "user": "u1",
        "history": [{"item": "a", "title": FILMS[12], "rating": 8.0, "timestamp": None}],
        "scale": [2.0, 10.0],
        "candidates": [{"item": "b", "title": FILMS[0]}, {"item": "c", "title": FILMS[1]}],
        "k": 2, "instruction": "", "edits": [], "answer": [FILMS[1], FILMS[0]], "kinds": [],
    },
}  # fmt: skip


def asked(**changes: Any) -> dict[str, Any]:
    """One side of an example as a text model was asked."""
    return {
        **SHRUNK["source"], "attributes": {"age": "31"}, "text": "1. Film A\nand so on",
        "prompt": [{"role": "system", "content": "Be brief."},
                   {"role": "user", "content": "Rank these.", "images": ["1a2b"]}],
        "entries": [{"text": "Film A", "kind": "candidate", "title": FILMS[0]},
                    {"text": "and so on", "kind": "unparsed", "title": None}],
        **changes,
    }  # fmt: skip


ASKED = {
    "source": asked(),
    "followup": asked(
        prompt=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Ra nk these.", "images": ["1a2b"]},
        ],
        text="",
        entries=[],
        answer=[],
    ),
}

PUBLISHED = {
    "source": "Table 2 of the paper",
    "columns": ["model", "HIT@5", "HIT@10"],
    "rows": [["neighbours", 0.042, 0.054], ["a language model", 0.07, None]],
}
CURVE = {
    "x": "place of the held-out item in the prompt", "y": "hit rate",
    "points": [[1, 0.5, 0.4, 0.6], [10, 0.3, 0.2, 0.4], [20, 0.2, 0.1, 0.3]],
    "lines": {"shuffled": [[1, 0.35, 0.3, 0.4], [10, 0.34, 0.3, 0.4], [20, 0.35, 0.3, 0.4]]},
}  # fmt: skip
SCATTER = {
    "x": "popularity of the history", "y": "popularity of the answer",
    "points": [[place / 10, (place * 7) % 31 / 5] for place in range(80)],
}  # fmt: skip


def everything() -> Any:
    """A record with a row of every kind, for two models."""
    rows = [
        row(0, shrunk=SHRUNK, examples=[example(asked=ASKED), example("u2", keeps=True)]),
        row(1, model="n", p_value=0.03, p_holm=0.3, shrunk=SHRUNK),
        row(2, expected="violated", outcome="passed"),
        holds(3),
        holds(4, expected="violated", outcome="failed"),
        holds(5, status="inconclusive", interval=[-0.02, 0.12], outcome="failed",
              reason="about 140 more users like these would settle it"),
        row(6, status="error", interval=None, estimate=None, p_value=None, examples=[],
            reason="429 rate limit (20): 33.3% of the users failed, the limit is 5.0%"),
        row(7, status="not-applicable", outcome="skipped", interval=None, estimate=None,
            p_value=None, examples=[], users=0, reason="needs a text model, and m reads no text"),
        holds(8, relation="", oracle="only_candidates", status="violated", floor=None,
              measures="share of users with an item that was not offered",
              agreement=None, estimate=0.24, interval=[0.08, 0.48], promise="Only what was offered.",
              examples=[example(source=FILMS[:3], followup=[], score=None,
                                source_kinds=["candidate", "history", "outside"])]),
        holds(9, oracle="same_score:log_popularity", allowed="within", floor=None,
              measures="change of log popularity", agreement=None),
        task("hit@5", 0.06, model="m", details={"published": PUBLISHED}, status="violated"),
        task("hit@10", 0.2, model="m", details={"published": PUBLISHED}),
        task("hit@10", 0.18, model="n", details={"published": PUBLISHED}),
        holds(10, details={"curve": CURVE}),
        holds(11, details={"scatter": SCATTER, "figures": {"rank_correlation": 0.31}}),
    ]  # fmt: skip
    for number, name in enumerate(("relevance", "diversity", "novelty", "stability")):
        dimension = {"name": name, "value": 0.4 + number / 10, "low": 0.3, "high": 0.9}
        rows.append(task(name, 0.4 + number / 10, suite="multidimensional",
                         details={"dimension": dimension}))  # fmt: skip
    made = document(*rows)
    changed = {"oracle": "same_ranking:rbo", "margin": 0.05, "users": 58, "reason": ""}
    made["notes"] = ["http://here/v1 takes no seed, so answers cannot be reproduced"]
    made["gate"] |= {
        "sentence": "gate: failed; 4 violated (scale_ratings(2); 3 more); the run is partial: 2 of 20",
        "reasons": ["the run is partial: 2 of 20 tests were not selected", f"violated: {rows[0]['nodeid']}"],
        "comparisons": [
            {
                "model": "m", "against": "m", "baseline": "old.json", "refused": [],
                "counts": {"unchanged": 9, "regressed": 1, "improved": 1},
                "bounds": "lower bounds at error rate 0.025",
                "results": [
                    {**changed, "nodeid": rows[3]["nodeid"], "change": "improved", "worse": -0.2,
                     "interval": [-0.3, -0.1]},
                    {**changed, "nodeid": rows[0]["nodeid"], "change": "regressed", "worse": 0.12,
                     "interval": [0.08, 0.16]},
                    {**changed, "nodeid": rows[9]["nodeid"], "change": "unchanged", "worse": 0.0,
                     "interval": [-0.01, 0.01]},
                ],
            },
            {"model": "n", "against": "n", "baseline": "old.json", "counts": {}, "results": [],
             "refused": ["the data differ: ab12 then, cd34 now"]},
        ],
    }  # fmt: skip
    return made
