"""Resolves the text after ``--recsys-model`` to a recommender."""

import difflib
import importlib
import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from pytest_recsys_mt.extensions import RECOMMENDERS, entry_points, owner_of
from pytest_recsys_mt.recommenders import own_objects
from pytest_recsys_mt.requests import Recommender, TextModel, own_code, specs
from pytest_recsys_mt.safety.errors import MissingExtraError, RecommenderError
from pytest_recsys_mt.safety.raised import with_traceback
from pytest_recsys_mt.safety.redaction import shown

_CLASS_OR_KEY = re.compile(r'(?m)^class (\w+)|^    key: ClassVar\[str\] = "(\w+)"')


def _declared(package: str) -> Mapping[str, str]:
    found, kind = {}, ""
    for path in sorted(
        (Path(__file__).parents[1] / package.replace(".", "/")).glob("*.py"),
    ):
        for begun, key in _CLASS_OR_KEY.findall(path.read_text(encoding="utf-8")):
            kind = begun or kind
            if key:
                found[key] = f"{package}.{path.stem}:{kind}"
    return found


BUILT_IN = _declared("recommenders")
TRAINED = _declared("recommenders.trained")
"""Module and class of the recommenders that need PyTorch; imported when first named."""

NAMES = (*BUILT_IN, *TRAINED)
"""Names of the built-in recommenders."""

NEAR = 0.7
"""A bare name this similar to a recommender's counts as a typing error, not as an
OpenAI model. The names of OpenAI's models stay below 0.6.
"""

RECOMMENDER_LIKE = re.compile(r"(rec|knn|fm|mf|cf|gcn)$")
"""Endings of recommenders' names that no OpenAI model has."""


PREFIXES: Mapping[str, str] = {
    "openai": "llm.api.openai_model:OpenAIModel",
    "litellm": "llm.api.litellm_model:LiteLLMModel",
    "hf": "llm.local.hf_model:HFModel",
    "recorded": "recommenders.recorded:Recorded",
    "https": "recommenders.http:HTTPRecommender",
    "http": "recommenders.http:HTTPRecommender",
    "rerank": "recommenders.rerank:Reranker",
}
"""Module and class of what specs name that begin with the
key and a colon; imported when first named.
"""


def may_cost(spec: str) -> bool:
    """Whether a recommender costs money or time by the call: a language model, an
    endpoint or a re-ranker.

    Raises:
        RecommenderError: As `resolve` does.
    """
    is_remote = spec.startswith(("http:", "https:", "rerank:"))
    return is_remote or not isinstance(resolve(spec), Recommender)


def resolve(
    spec: str,
    *,
    exact: bool = False,
    verbs: Sequence[str] = own_objects.RECOMMENDS,
) -> Recommender | TextModel:
    """The recommender or text model that a spec names, not fitted yet.

    In this order:

      * ``openai:NAME``, ``litellm:PROVIDER/NAME``, ``hf:PATH``: a language model
        (``hf:PATH?images=true``: one that reads images);
      * ``recorded:FILE.jsonl``: earlier answers of a language model;
      * ``https://HOST/PATH``, ``http://...``: a recommender behind HTTP
        (``https://HOST/PATH?map=FILE.toml``: with requests and answers of its own form);
      * ``rerank:NAME``: a re-ranker behind HTTP;
      * ``path/to/file.py:name``, ``package.module:name``: an object, a class or a factory;
      * the name of a built-in recommender or of an entry point of the group `extensions.RECOMMENDERS`;
      * any other bare name: the OpenAI chat model of that name, unless it is within
        `NEAR` of a recommender's name, begins one, or is `RECOMMENDER_LIKE`
        (``openai:itemkn`` overrides this).

    Each takes parameters, ``itemknn?neighbours=10&weights=binary``, typed by the
    annotations of the class or factory. ``cpus`` and ``gpus`` are only for ``-o
    recsys_executor=ray``, and are removed. Models of this process answer each prompt
    alone, in float32 on one thread, if `exact`, unless the spec itself says
    ``exact=false``. An object must have one of the methods `verbs`.

    Raises:
        RecommenderError: If the spec is unknown or cannot be built; the text names
            valid ones.
    """
    spec, _ = specs.resources(spec)
    prefix, colon, _ = spec.partition(":")
    if colon and prefix in PREFIXES:
        return _of_prefix(prefix, spec, exact)
    target, given = specs.split(spec)
    openai = f"(For an OpenAI model of that name write 'openai:{spec}'.)"
    if not target.strip():
        raise RecommenderError(f"the model spec {spec!r} names nothing; {_known()}")
    if shown(target) != target:
        raise RecommenderError(
            f"{shown(spec)!r} is not the address of a recommender: it must begin with 'https://' or 'http://' "
            f"and hold no user name",
        )
    if ":" in target:
        return _load(target, given, spec, verbs)
    found = _provided(target)
    if found is not None:
        return own_objects.from_object(found(), given, spec, verbs)
    _refuse_own_names(target, spec, openai)
    near = _near(target)
    if near or RECOMMENDER_LIKE.search(target.casefold()):
        hint = f"did you mean {near!r}?" if near else _known()
        raise RecommenderError(f"there is no recommender {target!r}; {hint} {openai}")
    return _of_prefix("openai", f"openai:{spec}", exact)


def _provided(target: str) -> Callable[[], Any] | None:
    """The loader of the recommender of a name, built-in or of an
    installed package; None if there is none.
    """
    providers = _providers(target)
    if len(providers) > 1:
        raise RecommenderError(
            f"{target!r} is provided {len(providers)} times: by {' and by '.join(providers)}; "
            f"uninstall one of them, or name the one you mean as 'package.module:name'",
        )
    return next(iter(providers.values()), None)


def _refuse_own_names(target: str, spec: str, openai: str) -> None:
    """Raise an error for a bare name that means a file or a
    module of the user, without an object in it.
    """
    if target.endswith(".py"):
        raise RecommenderError(
            f"{spec!r} names a file; name an object in it: '{target}:NAME'",
        )
    file = Path(f"{target}.py")
    if file.is_file():
        raise RecommenderError(
            f"{target!r} is not a recommender, but there is a file {str(file)!r}; name an object in it: "
            f"'{file}:NAME'. {openai}",
        )
    module, dot, attribute = target.rpartition(".")
    if not dot or not own_code.is_dotted(target):
        return
    if Path(f"{module}.py").is_file() or own_code.is_importable(
        module.partition(".")[0]
    ):
        raise RecommenderError(
            f"{target!r} is not a recommender; did you mean '{module}:{attribute}', the object {attribute!r} "
            f"of the module {module!r}? {openai}",
        )


def is_made_by_each_process(spec: str) -> bool:
    """Whether each process makes the recommender of a spec for
    itself: those of this package and own ones.
    """
    prefix, colon, _ = spec.partition(":")
    target, _ = specs.split(specs.resources(spec)[0])
    return prefix not in PREFIXES if colon else bool(_providers(target))


def describe(recommender: Recommender | TextModel) -> str:
    """The name of a recommender in reports: its `name`, else its module and class."""
    name = getattr(recommender, "name", None)
    return (
        name if isinstance(name, str) and name else own_code.qualified_name(recommender)
    )


def _of_prefix(prefix: str, spec: str, exact: bool) -> Recommender | TextModel:
    place, of_this_process = PREFIXES[prefix], {}
    if prefix == "hf":  # models elsewhere cannot promise to answer exactly
        of_this_process = {"exact": exact}
        if specs.split(spec)[1].get("images") == "true":
            place = "llm.local.hf_images:HFImageModel"
    if prefix in ("http", "https") and "map" in specs.split(spec)[1]:
        place = "recommenders.http_mapped:MappedRecommender"
    made: Recommender | TextModel = class_at(place).from_spec(spec, **of_this_process)
    return made


def class_at(place: str) -> Any:
    """The class at a place of this package, ``recommenders.knn:ItemKNN``."""
    module, _, kind = place.partition(":")
    return getattr(importlib.import_module(f"pytest_recsys_mt.{module}"), kind)


def _load(
    target: str,
    given: Mapping[str, str],
    spec: str,
    verbs: Sequence[str],
) -> Recommender | TextModel:
    """The recommender that the user's own code holds or makes."""
    place = own_code.split(target)
    if place is None:
        where, _, name = target.rpartition(":")
        raise RecommenderError(
            f"{spec!r} begins with no known prefix, and neither a module {where!r} that can be imported "
            f"here or lies in {str(Path.cwd())!r} nor a file {where!r} with the ending .py holds a "
            f"{name!r}; {_known()} For an OpenAI-compatible model of that name write 'openai:{spec}'.",
        )
    found = own_code.find(
        *place,
        spec,
        partial(own_objects.does, verbs=verbs),
    )
    return own_objects.from_object(found, given, spec, verbs)


def _known() -> str:
    return (
        f"known prefixes: {', '.join(f'{prefix}:' for prefix in PREFIXES)}; "
        f"known names: {', '.join(NAMES)}."
    )


def _providers(name: str) -> dict[str, Callable[[], Any]]:
    providers: dict[str, Callable[[], Any]] = {}
    if name in NAMES:
        providers["pytest-recsys-mt itself"] = partial(_load_built_in, name)
    for point in entry_points(RECOMMENDERS):
        if point.name != name:
            continue
        providers[f"{owner_of(point)} ({point.value})"] = partial(
            _load_entry_point,
            point,
        )
    return providers


def _load_built_in(name: str) -> Any:
    try:
        return class_at({**BUILT_IN, **TRAINED}[name])
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] in {"torch", "safetensors"}:
            raise MissingExtraError(
                f"{name!r} is trained with {error.name}, which is not installed; run: "
                f"pip install 'pytest-recsys-mt[train]'",
            ) from error
        raise RecommenderError(f"{name!r} cannot be loaded: {error}") from error


def _load_entry_point(point: metadata.EntryPoint) -> Any:
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        text = f"the recommender {point.name!r} of the entry point {point.value!r} cannot be loaded:"
        raise RecommenderError(with_traceback(text, error)) from error


def _near(name: str) -> str | None:
    offered = {*NAMES, *(point.name for point in entry_points(RECOMMENDERS))}
    plain = {re.sub(r"[\W_]", "", known).casefold(): known for known in sorted(offered)}
    asked = re.sub(r"[\W_]", "", name).casefold()
    close = [
        plain[found]
        for found in difflib.get_close_matches(asked, plain, n=1, cutoff=NEAR)
    ]
    begun = [
        known for known in NAMES if len(name) > 1 and known.startswith(name.casefold())
    ]
    return next(iter(close + begun), None)
