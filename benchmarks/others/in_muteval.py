"""muteval: its fault `shuffle_context` in a recommender whose candidates are the
documents, with "7 of 10 agree" as check.

A killed fault says that the check fails after the candidates were reversed, in the
majority of five runs, and does not before. The context holds places, because all users
share it. A baseline that fails in a case gives no score.
"""

import json
from typing import Any

from experiment import OFFERED, Shop, shared
from muteval import MutEvalConfig, System, run_mutation_testing


def ask(kind: str, seed: int) -> dict[str, Any]:
    """Whether the fault is killed, of 40 users."""
    shop = Shop(kind, seed)

    def run(system: System, case: dict[str, Any]) -> str:
        places = [int(place) for place in system.context]
        offered = [shop.offers[case["user"]][place] for place in places]
        return json.dumps(shop.recommend(case["user"], offered))

    def agree(output: str, case: dict[str, Any]) -> bool:
        return bool(shared(json.loads(output), case["first"]) >= 7)

    cases = [
        {"user": user, "first": shop.recommend(user, shop.offers[user])}
        for user in range(40)
    ]
    system = System(context=tuple(str(place) for place in range(OFFERED)))
    config = MutEvalConfig(
        system=system,
        cases=cases,
        run=run,
        evals=[agree],
        runs_per_mutant=5,
        baseline_runs=5,
    )
    result = run_mutation_testing(config, operators=["shuffle_context"])
    killed = [outcome.killed for outcome in result.outcomes]
    return {
        "shuffle_context": {
            "red": any(killed),
            "status": str(result.status),
            "killed": killed,
        },
    }
