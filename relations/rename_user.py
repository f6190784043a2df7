"""The same user under another name.

Seven new digits replace the digits at the end of the old name (``u12`` becomes
``u4810385``). No user with a known history has the new name. Answers of both sides
belong to the user of the source request.

Source:
    This project; prompts of published language model recommenders contain the user's
    number (Table 1 of https://arxiv.org/abs/2411.12121).

Example:
    >>> request = Request("user-12", history=(), scale=Scale(), candidates=None, k=5)
    >>> rename_user(request, np.random.default_rng(0)).user
    'user-8655618'
"""

from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World


@transformation(
    promise="The ranking stays the same when the user has another name.",
    changes={"user"},
)
def rename_user(request: Request, rng: Generator, world: World) -> Request:
    stem = request.user.rstrip("0123456789")
    while True:
        name = f"{stem}{rng.integers(10**6, 10**7)}"
        if name != request.user and name not in world.histories:
            return request.replace(user=name)
