"""The effects of planted faults in all workers, as one part of the record."""

from collections.abc import Iterable, Sequence
from typing import cast

from pytest_recsys_mt.gate.document import Differing, Planted


def merged(found: Iterable[Planted]) -> list[Planted]:
    """The comparisons of all workers, one entry per fault and recommender."""
    groups: dict[tuple[str, str], list[Planted]] = {}
    for planted in found:
        groups.setdefault((planted["fault"], planted["model"]), []).append(planted)
    entries: list[Planted] = []
    for (fault, model), group in sorted(groups.items()):
        entry = cast("Planted", {"fault": fault, "model": model, **_sum(group)})
        elsewhere = [
            planted["elsewhere"] for planted in group if "elsewhere" in planted
        ]
        if elsewhere:
            entry["elsewhere"] = _sum(elsewhere)
        entries.append(entry)
    return entries


def _sum(group: Sequence[Differing]) -> Differing:
    users: set[str] = set()
    hit_users: set[str] = set()
    beyond_noise: list[float] = []
    for part in group:
        users.update(part["users"])
        hit_users.update(part["hit"])
        beyond_noise += part["beyond_noise"]
    return {
        "exact": all(part["exact"] for part in group),
        "answers": sum(part["answers"] for part in group),
        "differing": sum(part["differing"] for part in group),
        "lost": sum(part["lost"] for part in group),
        "users": sorted(users),
        "hit": sorted(hit_users),
        "beyond_noise": beyond_noise,
    }
