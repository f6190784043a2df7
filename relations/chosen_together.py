"""More users who have one item have another one, too."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.invented import Dataset
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable, RelationError


@usual("m030", "m035", 20)
def chosen_together(item: str, beside: str, users: int) -> Transformation:
    """Give `item` to so many `users`, at least one, of the training data who have
    another one, rated as they rated that.

    All who have `beside` and can get it do, if these are fewer. A user who has
    `beside` must not get `item` later than before: judge it by
    `pytest_recsys_mt.oracles.not_promoted` from the follow-up to the source. Users
    without `beside`, and those who have the item already, are not applicable.

    It is not applicable to data where nobody can get the item.

    Source:
        This project; the idea that interactions draw items nearer, of every
        collaborative filter.

    Example:
        >>> more = chosen_together("m200", "m100", 3).training(mini, np.random.default_rng(0))
        >>> more.popularity["m200"] - mini.popularity["m200"]
        3
    """
    many = arguments.count("chosen_together", "users", users)
    if item == beside:
        raise RelationError(
            f"chosen_together: two different items are needed, got {item!r} twice",
        )

    def apply(request: Request, rng: Generator, world: World) -> Request:
        shown = {rating.item.id for rating in request.history}
        if beside not in shown:
            raise NotApplicable(f"the history does not show {beside!r}")
        if item in request.known:
            raise NotApplicable(f"the user has {item!r} already")
        return request

    def training(dataset: Dataset, rng: Generator) -> Dataset:
        frame = dataset.interactions
        owners = set(frame.loc[frame["item"] == item, "user"])
        can_get = frame[(frame["item"] == beside) & ~frame["user"].isin(owners)]
        if item not in dataset.items or can_get.empty:
            raise NotApplicable(f"nobody who has {beside!r} can get {item!r}")
        chosen = rng.permutation(len(can_get))[:many]
        given = can_get.iloc[chosen].assign(item=item)
        return dataset.adding(given.itertuples(index=False))

    return built_in(
        ("chosen_together", item, beside, many),
        apply=apply,
        training=training,
        promise="An item does not fall for those who have another one when more users have both.",
        needs={"ratings"},
        may_keep=True,
    )
