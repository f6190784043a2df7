"""accuracy.fcp averages concordant and discordant pairs over different sets of users."""

import sys

from surprise import Prediction, accuracy


def predictions(user, pairs):
    return [Prediction(user, str(n), true, guess, {}) for n, (true, guess) in enumerate(pairs)]


# Two users in perfect order (1 pair each), one in reverse (3 pairs): 2 of 5 pairs are concordant.
rows = [*predictions("a", [(1, 1), (2, 2)]), *predictions("c", [(1, 1), (2, 2)])]
rows += predictions("b", [(1, 3), (2, 2), (3, 1)])
seen = accuracy.fcp(rows, verbose=False)
print(f"expected: 2 / (2 + 3) = 0.4\nseen:     {seen}")
sys.exit(int(abs(seen - 0.4) > 1e-9))
