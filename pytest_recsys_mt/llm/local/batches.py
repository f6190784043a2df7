"""Divides the prompts for a local model into batches with shared beginnings."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Tokens = tuple[int, ...]

WORTH_SHARING = 0.5
"""Prompts form a group if their common beginning is at least this share of the longer one."""


@dataclass(frozen=True, slots=True)
class Group:
    """Prompts with one beginning, which is computed once for all.

    Attributes:
        head: Tokens that the members have in common; each has at least one of its own.
        members: Positions of the prompts, the longest first.
    """

    head: int
    members: tuple[int, ...]


Batch = tuple[Group, ...]
"""The groups that are computed together."""


def plan(
    prompts: Sequence[Tokens], answer: int, *, tokens: int, most: int | None, apart: bool
) -> Iterator[Batch]:
    """Divide prompts into batches of like length, the longest first.

    Args:
        prompts: The tokens of each prompt.
        answer: Tokens that an answer may have.
        tokens: Most tokens of one batch, including answers; a longer prompt is a batch of its own.
        most: Most prompts of one batch; None for as many as `tokens` allows.
        apart: Whether repetitions of a prompt go into other batches, with other neighbours. They
            then differ like answers of different runs, and a noise floor measured by them includes
            the noise of batches.
    """
    seen = Counter[Tokens]()
    waves: dict[int, list[int]] = {}
    for position, prompt in enumerate(prompts):
        waves.setdefault(seen[prompt] if apart else 0, []).append(position)
        seen[prompt] += 1
    for wave, positions in waves.items():
        groups = _groups(prompts, positions)
        shared = [group for group in groups if len(group.members) > 1]
        single = [group for group in groups if len(group.members) == 1]
        for some in (shared, single):
            yield from _pack(prompts, some, answer, tokens, most, halve=wave % 2 == 1)


def common(prompts: Sequence[Tokens]) -> int:
    """The number of tokens that all prompts begin with; at least one token of each is left."""
    first, last = min(prompts), max(prompts)
    most = min(map(len, prompts)) - 1
    return next((i for i in range(most) if first[i] != last[i]), most)


def _groups(prompts: Sequence[Tokens], positions: Sequence[int]) -> list[Group]:
    groups: list[Group] = []
    members: list[int] = []
    head = 0
    for position in sorted(positions, key=lambda position: prompts[position]):
        # In sorted order the first and the last of a group differ earliest.
        joint = common([prompts[place] for place in (*members[:1], position)])
        if members and joint < WORTH_SHARING * max(len(prompts[p]) for p in (members[0], position)):
            groups.append(_group(prompts, head, members))
            members, joint = [], len(prompts[position]) - 1
        members.append(position)
        head = joint if len(members) > 1 else 0
    if members:
        groups.append(_group(prompts, head, members))
    return groups


def _group(prompts: Sequence[Tokens], head: int, members: Sequence[int]) -> Group:
    return Group(head, tuple(sorted(members, key=lambda member: -len(prompts[member]))))


def _pack(
    prompts: Sequence[Tokens],
    groups: Sequence[Group],
    answer: int,
    tokens: int,
    most: int | None,
    *,
    halve: bool,
) -> Iterator[Batch]:
    """Fill batches; a group too large for one is cut. With `halve`, the first is half as large."""

    def length(group: Group) -> int:
        return max(len(prompts[member]) for member in group.members)

    batch: list[Group] = []
    rows, longest, share = 0, 0, 2 if halve else 1
    for group in sorted(groups, key=length, reverse=True):
        waiting = group.members
        while waiting:
            longest = max(longest, length(group))
            room = tokens // share // (longest + answer)
            if most is not None:
                room = min(room, max(1, most // share))
            free = max(room, 1) - rows
            if free <= 0 or (batch and free < len(waiting) <= room):
                yield tuple(batch)
                batch, rows, longest, share = [], 0, 0, 1
                continue
            batch.append(Group(group.head, waiting[:free]))
            rows += len(waiting[:free])
            waiting = waiting[free:]
    if batch:
        yield tuple(batch)
