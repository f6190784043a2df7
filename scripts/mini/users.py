"""The users of mini: a preference model, and what users of that kind rate.

Everything is drawn from one seed.  A user has

* *tastes*: two of the `TASTES` below and a private liking of each genre, together a
  weight per genre; a film matches by the mean weight of its genres;
* *an era*: a favourite year, likelier late than early; the match falls with the
  distance from it, and a user's age is such that the favourite year falls into their
  youth;
* *people*: a liking of every director and actor who works on more than one of the films;
* *a sense of style*: a direction in `STYLES` dimensions that no metadata shows.  A
  film's own direction is scattered around its first director's.  Through it, what
  others rated tells more of a user than titles, genres and names do;
* *activity*: how many films they rate, by a Pareto law between the bounds `ACTIVITY`;
* *leniency*: a shift of all their ratings.

Each match is standardised over the films, so is their weighted sum, the *affinity* of
user u to film i.  The *popularity* of films follows the law of Zipf and Mandelbrot over
their ranks by fame (ties in random order).  A user comes in *sessions*.  Each has a
mood, one of the user's tastes, and takes films not yet rated without replacement, with
probabilities in proportion to

    popularity_i * exp(CHOICE * affinity_ui + MOOD * match of the mood and film i)

so that neighbours in time are alike.  The rating in stars, rounded and clipped to 1..5,
is

    RATING_MEAN + quality_i + leniency_u + OPINION * affinity_ui + NOISE * standard
    normal

where quality is drawn around what fame suggests.  The mean rating is above
`RATING_MEAN` because people choose what they expect to like.

All draws are uniform or standard normal numbers of one PCG64 stream in a fixed order,
and only integers come out, so the last bits of floating point do not show in the
result.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mini.films import Film

SEED = 1
USERS = 400

TASTES: dict[str, dict[str, float]] = {
    "blockbusters": {
        "Action": 2,
        "Adventure": 2,
        "Sci-Fi": 1.5,
        "Thriller": 0.5,
        "Drama": -1,
    },
    "space and future": {"Sci-Fi": 3, "Fantasy": 1, "Adventure": 1, "Romance": -1},
    "family": {
        "Children": 2.5,
        "Animation": 2.5,
        "Fantasy": 1,
        "Musical": 1,
        "Horror": -3,
    },
    "romance": {"Romance": 2.5, "Comedy": 1, "Musical": 1.5, "War": -1, "Horror": -2},
    "crime": {
        "Crime": 2.5,
        "Thriller": 1.5,
        "Mystery": 1,
        "Film-Noir": 2,
        "Children": -2,
    },
    "fright": {
        "Horror": 3,
        "Thriller": 1.5,
        "Mystery": 0.5,
        "Musical": -2,
        "Romance": -1,
    },
    "laughter": {"Comedy": 2.5, "Animation": 0.5, "War": -1, "Drama": -1},
    "serious": {
        "Drama": 2,
        "War": 1.5,
        "Documentary": 2.5,
        "Comedy": -1,
        "Action": -1.5,
    },
    "frontier": {"Western": 3, "War": 2, "Action": 1, "Adventure": 1, "Animation": -2},
    "art house": {
        "Drama": 1.5,
        "Mystery": 1.5,
        "Fantasy": 1,
        "Documentary": 2,
        "Action": -2,
    },
}
OCCUPATIONS = (
    "artist", "clerk", "cook", "doctor", "engineer", "farmer", "lawyer", "librarian", "manager",
    "musician", "nurse", "programmer", "salesperson", "scientist", "teacher", "writer",
)  # fmt: skip

MIXTURE = (1.0, 0.6)
"""Weights of a user's tastes."""
STYLES = 3
"""Dimensions of style."""
GENRE, ERA, PEOPLE, STYLE = 1.0, 0.8, 0.4, 1.0
"""Weights of the four matches in the affinity."""
ZIPF, MANDELBROT = 1.5, 2.0
"""The film of rank r in fame has the popularity (r + MANDELBROT) ** -ZIPF."""
CHOICE, MOOD = 2.4, 0.8
"""How strongly affinity and mood draw a user to a film."""
ACTIVITY, PARETO = (25, 120), 3.0
"""Least and most ratings of a user, and the exponent of the law between them."""
RATING_MEAN, OPINION, NOISE = 2.85, 0.45, 0.85
SESSION, DAY, RETURN = 8.0, 86400, 20 * 86400
"""Mean ratings in a session; seconds from one to the
next, at least and on average more.
"""
EPOCH, SPAN = 1420070400, 3 * 365 * DAY
"""The first second of 2015, and the seconds in which users join."""

Row = tuple[object, ...]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Users:
    """The users by number, and what they think of the films.

    Attributes:
        mixture: Share of every taste, shape (users, tastes).
        moods: How films match a taste, shape (tastes, films).
        affinity: How films match a user, shape (users, films).
        leniency: In stars, shape (users,).
        activity: Films rated, shape (users,).
        age: In 2015, shape (users,).
        occupation: Index into `OCCUPATIONS`, of those between school and pension, shape
            (users,).
    """

    mixture: Floats
    moods: Floats
    affinity: Floats
    leniency: Floats
    activity: Integers
    age: Integers
    occupation: Integers


def standard(matches: Floats) -> Floats:
    """Matches (users, films) with mean 0 and standard
    deviation 1 over each user's films.
    """
    centred = matches - matches.mean(axis=1, keepdims=True)
    scaled: Floats = centred / centred.std(axis=1, keepdims=True)
    return scaled


def shares(groups: list[tuple[str, ...]]) -> tuple[list[str], Floats]:
    """All names in order, and each film's share in them, of shape (films, names)."""
    names = sorted({name for group in groups for name in group})
    matrix = np.zeros((len(groups), len(names)))
    for row, group in enumerate(groups):
        for name in group:
            matrix[row, names.index(name)] = 1 / len(group)
    return names, matrix


def draw_users(rng: np.random.Generator, films: list[Film]) -> Users:
    """Everybody's preferences, independent of each other."""
    genres, in_genre = shares([film.genres for film in films])
    tastes = np.array(
        [[taste.get(genre, 0.0) for genre in genres] for taste in TASTES.values()],
    )
    mixture = np.zeros((USERS, len(tastes)))
    for weight in MIXTURE:
        mixture[np.arange(USERS), (rng.random(USERS) * len(tastes)).astype(int)] += (
            weight
        )
    liking = mixture @ tastes + 0.5 * rng.standard_normal((USERS, len(genres)))
    genre = standard(liking @ in_genre.T)

    years = np.array([film.year for film in films], dtype=float)
    favourite = 2012 - 50 * rng.random(USERS) ** 1.5
    era = standard(-np.abs(years - favourite[:, np.newaxis]))

    _, works = shares([film.directors + film.cast for film in films])
    works = works[:, (works > 0).sum(axis=0) > 1]
    people = standard(rng.standard_normal((USERS, works.shape[1])) @ works.T)

    _, directs = shares([film.directors[:1] for film in films])
    styles = directs @ rng.standard_normal((directs.shape[1], STYLES))
    styles += 0.5 * rng.standard_normal(styles.shape)
    style = standard(rng.standard_normal((USERS, STYLES)) @ styles.T)

    low, high = ACTIVITY
    kept = 1 - (low / high) ** PARETO
    activity = low * (1 - kept * rng.random(USERS)) ** (-1 / PARETO)
    return Users(
        mixture=mixture / mixture.sum(axis=1, keepdims=True),
        moods=standard(tastes @ in_genre.T),
        affinity=standard(GENRE * genre + ERA * era + PEOPLE * people + STYLE * style),
        leniency=0.3 * rng.standard_normal(USERS),
        activity=activity.astype(int),
        age=np.clip(
            2015 - favourite + 18 + 5 * rng.standard_normal(USERS),
            16,
            80,
        ).astype(int),
        occupation=(rng.random(USERS) * len(OCCUPATIONS)).astype(int),
    )


def occupation(users: Users, user: int) -> str:
    """What the user does: students are young, pensioners old."""
    age = users.age[user]
    if age < 23:
        return "student"
    return "retired" if age > 66 else OCCUPATIONS[users.occupation[user]]


def sessions(
    rng: np.random.Generator,
    users: Users,
    user: int,
    log_popularity: Floats,
) -> Iterator[tuple[int, list[int]]]:
    """When the user comes (Unix s), and the films they then rate, in order."""
    weight = log_popularity + CHOICE * users.affinity[user]
    clock = EPOCH + int(rng.random() * SPAN)
    left = int(users.activity[user])
    while left:
        size = min(left, 1 + int(-SESSION * np.log(1 - rng.random())))
        mood = int(np.searchsorted(users.mixture[user].cumsum()[:-1], rng.random()))
        # The largest sums of log weight and Gumbel noise are a draw without
        # replacement.
        noise = -np.log(-np.log(1 - rng.random(len(weight))))
        films = np.argsort(-(weight + MOOD * users.moods[mood] + noise))[:size]
        yield clock, films.tolist()
        weight[films] = -np.inf
        left -= size
        clock += DAY + int(-RETURN * np.log(1 - rng.random()))


def simulate(films: list[Film]) -> tuple[list[Row], list[Row]]:
    """Rows of the users' and of the ratings' file."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    users = draw_users(rng, films)
    fame = np.array([film.fame for film in films], dtype=float)
    rank = 1 + np.argsort(np.argsort(-(fame + rng.random(len(films)))))
    log_popularity = -ZIPF * np.log(rank + MANDELBROT)
    quality = 0.15 * (fame - 3) + 0.3 * rng.standard_normal(len(films))

    people: list[Row] = []
    ratings: list[Row] = []
    for user in range(USERS):
        name = f"u{user + 1:03d}"
        people.append((name, int(users.age[user]), occupation(users, user)))
        mean = (
            RATING_MEAN
            + quality
            + users.leniency[user]
            + OPINION * users.affinity[user]
        )
        for clock, rated in sessions(rng, users, user, log_popularity):
            for film in rated:
                clock += 15 + int(rng.random() * 120)
                stars = int(
                    np.clip(np.rint(mean[film] + NOISE * rng.standard_normal()), 1, 5),
                )
                ratings.append((name, films[film].id, stars, clock))
    return people, ratings
