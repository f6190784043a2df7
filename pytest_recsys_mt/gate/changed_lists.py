"""Which lists differ between two records: the promises of a recommender may hold, and
all of its answers be others.
"""

from collections.abc import Sequence
from statistics import fmean

from pytest_recsys_mt.gate.document import ChangedLists, Facts, ListsClaim
from pytest_recsys_mt.oracles.statistics.bounds import Rate


def changed_lists(
    old: Facts,
    new: Facts,
    against: str,
    model: str,
) -> ChangedLists | None:
    """How many lists of the unchanged requests differ between two records.

    Args:
        old: The earlier record.
        new: The later one.
        against: The model of the earlier record.
        model: That of the later one.

    Returns:
        None if the records have no list of a user in common, as older ones do not.
    """
    before = old.get("lists", {}).get(against, {})
    after = new.get("lists", {}).get(model, {})
    users = before.keys() & after.keys()
    if not users:
        return None
    # Records of other versions may hold fewer places of each list.
    places = min(max(len(lists[user]) for user in users) for lists in (before, after))
    pairs = [(before[user][:places], after[user][:places]) for user in users]
    return {
        "users": len(users),
        "changed": sum(old_list != new_list for old_list, new_list in pairs),
        "overlap": fmean(_overlap(*pair) for pair in pairs),
        "places": places,
        "varies": varies(old, against) or varies(new, model),
    }


def in_words(lists: ChangedLists | None) -> str:
    """The lists that differ, in a sentence; empty if nothing is known of them."""
    if lists is None:
        return ""
    first = f"the first {lists['places']} places of the unchanged requests' lists"
    claims = "".join(f"; {claim_in_words(each)}" for each in lists.get("claims", ()))
    if not lists["changed"]:
        return f"lists: {first} are as they were for all {lists['users']} users{claims}"
    text = (
        f"lists: {first} differ for {lists['changed']} of {lists['users']} users; they share {lists['overlap']:.0%} of "
        f"their titles"
    )
    if lists["varies"]:
        text += "; the recommender varies, so lists change without a cause too"
    return text + claims


def claim_in_words(claim: ListsClaim) -> str:
    """What the policy demands of the lists of some users, and what is shown of it."""
    if claim["agreement"] is None:
        return claim.get("missing") or (
            f"of {claim['of']} both records have no list, so nothing is shown of their agreement"
        )
    least = f"{claim['least']:g}"
    shown = {
        "holds": f": at least {least}, as demanded",
        "violated": f": less than {least}, which is demanded",
        "inconclusive": f", which shows neither at least {least}, as demanded, nor less",
    }
    return (
        f"the lists of {claim['of']} agree {claim['agreement']:.3f} ({claim['low']:.3f} to {claim['high']:.3f}; "
        f"{claim['users']} users) with those of the baseline{shown[claim['status']]}"
    )


UNCLEAR = "it is not shown"
"""How a reason begins where users are too few for a claim, or are not there."""

NO_LISTS = "the records have no lists of the same users; accept a run of this version as the baseline"
VARYING = "its lists vary by themselves, so one list of each user shows no change; use served_as_trained"


def shows_others(reason: str) -> bool:
    """Whether a reason of `too_many` or `unshown` is that lists are shown to be others,
    and not that nothing is shown of them.
    """
    return reason not in (NO_LISTS, VARYING) and not reason.startswith(UNCLEAR)


def too_many(lists: ChangedLists | None, most: float, alpha: float) -> str:
    """Why it is not shown that few enough lists differ; empty if it is.

    Args:
        lists: The counts of the lists.
        most: The largest share of users whose list may differ.
        alpha: The error rate of each claim about the share of all users, of whom the
            users of the run are a sample (Clopper and Pearson).
    """
    if missing := _nothing_shown(lists):
        return missing
    assert lists is not None
    share = Rate(lists["changed"], lists["users"])
    counted = f"{lists['changed']} of {lists['users']} differ, and {most:g} of all may"
    if share.lower(alpha) > most:
        return counted
    if share.upper(alpha) > most:
        return f"{UNCLEAR} that few differ: {counted}; raise --recsys-users"
    return ""


def unshown(lists: ChangedLists | None) -> list[str]:
    """Why it is not shown that lists agree as the policy demands, for each claim."""
    if missing := _nothing_shown(lists):
        return [missing]
    assert lists is not None
    found = []
    for claim in lists.get("claims", ()):
        if claim["status"] != "holds":
            is_unclear = claim["status"] == "inconclusive"
            first = f"{UNCLEAR} that lists agree: " if is_unclear else ""
            found.append(f"{first}{claim_in_words(claim)}")
    return found


def _nothing_shown(lists: ChangedLists | None) -> str:
    if lists is None:
        return NO_LISTS
    if lists["varies"]:
        return VARYING
    return ""


def _overlap(before: Sequence[str], after: Sequence[str]) -> float:
    """The share of titles that two lists have in common; 1 for two empty ones."""
    longest = max(len(before), len(after))
    if not longest:
        return 1.0
    return len({*before} & {*after}) / longest


def varies(record: Facts, model: str) -> bool:
    """Whether two answers of a model to one request differed anywhere."""
    if "varying" in record:
        return model in record["varying"]
    # A record of an earlier version says it by the noise of its verdicts alone.
    floors = [row["floor"] for row in record["results"] if row["model"] == model]
    return any(floor is not None and floor < 1 for floor in floors)
