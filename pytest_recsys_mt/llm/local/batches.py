"""Divides the prompts for a local model into batches."""

from collections import Counter
from collections.abc import Iterator, Sequence

Tokens = tuple[int, ...]


def plan(
    prompts: Sequence[Tokens],
    answer: int,
    *,
    tokens: int,
    most: int | None,
    apart: bool,
) -> Iterator[list[int]]:
    """Divide prompts into batches of like length, the longest first, and yield the
    positions of each.

    Args:
        prompts: The tokens of each prompt.
        answer: Tokens that an answer may have.
        tokens: Most tokens of one batch with its answers; a longer prompt is a batch of
            its own.
        most: Most prompts of one batch; None for as many as `tokens` allows.
        apart: Whether repetitions of a prompt get other neighbours. They then differ
            like answers of different runs, and a noise floor measured by them includes
            the noise of batches.
    """
    seen = Counter[Tokens]()
    waves: dict[int, list[int]] = {}
    for position in sorted(
        range(len(prompts)),
        key=lambda position: -len(prompts[position]),
    ):
        prompt = prompts[position]
        waves.setdefault(seen[prompt] if apart else 0, []).append(position)
        seen[prompt] += 1
    for wave, waiting in waves.items():
        # Every other wave begins with half a batch, so that its batches are cut
        # elsewhere.
        share = 1 + wave % 2
        while waiting:
            room = tokens // (len(prompts[waiting[0]]) + answer)
            size = (
                min(room, len(waiting))
                if most is None
                else min(room, len(waiting), most)
            )
            size = max(1, size // share)
            yield waiting[:size]
            waiting, share = waiting[size:], 1
