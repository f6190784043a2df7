"""The calls of users' own code: what its methods return, how long it may take, and
what it may change in the process.
"""

import contextlib
import ctypes
import reprlib
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from itertools import islice
from queue import SimpleQueue
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

from pytest_recsys_mt.requests import Completion, Recommendation
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.redaction import redact

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 3
_SHORT.maxother = 80


def shown(found: object) -> str:
    """A short text that identifies an object."""
    return redact(_SHORT.repr(found))


@dataclass(frozen=True)
class Contract:
    """The return value that a method owes for its input.

    Attributes:
        call: The method as it is called, for messages.
        kind: The type of each answer.
        one: The input that each answer is for, in a word.
        wrap: How to fix a wrong return value, by its type.
    """

    call: str
    kind: type
    one: str
    wrap: Mapping[type, str]

    def __str__(self) -> str:
        return f"it returns a list with one {self.kind.__name__} for each {self.one}, in their order"

    def held(self, found: Any, asked: int) -> Sequence[Any]:
        """The return value of the method, if it has as many answers as inputs.

        Raises:
            RecommenderError: If it is no sequence, or has another number of answers.
        """
        is_sequence = hasattr(type(found), "__getitem__")
        if isinstance(found, str | bytes | Mapping) or not is_sequence:
            raise RecommenderError(
                f"{self.call} returned {shown(found)}; {self}{self._step(found)}",
            )
        if len(found) != asked:
            step = ""
            for first in islice(found, 1):
                step = self._step(first)
            raise RecommenderError(
                f"{self.call} returned {len(found)} answers to {asked} {self.one}s, {shown(found)}; "
                f"{self}{step}",
            )
        return found  # type: ignore[no-any-return]

    def wrong(self, answer: object) -> str:
        """The error text for an answer of another type."""
        return f"{self.call} returned {shown(answer)} as an answer; {self}{self._step(answer)}"

    def _step(self, found: object) -> str:
        """The advice on a wrong return value, behind a
        colon; empty where there is no advice.
        """
        if isinstance(found, self.kind):
            return ""
        if hasattr(found, "__next__"):
            return ": make a list of the generator, list(...)"
        for kind, step in self.wrap.items():
            if isinstance(found, kind):
                return f": {step}"
        return ""


IDS = "wrap the ids of each answer, Recommendation(tuple(ids))"
RECOMMEND = Contract(
    "recommend(requests)",
    Recommendation,
    "request",
    {
        str: IDS,
        int: IDS,
        list: IDS,
        tuple: IDS,
        type(None): "does it end without a return?",
    },
)
COMPLETE = Contract(
    "complete(prompts)",
    Completion,
    "prompt",
    {
        str: "wrap each text, Completion(text)",
        type(None): "does it end without a return?",
    },
)


HANGS = 3
"""After this many calls in a row without an answer in
time, a recommender is sent no more calls.
"""

P = ParamSpec("P")
T = TypeVar("T")


class NoAnswerError(RecommenderError):
    """A call gave no answer in time; its traceback shows where the call was then."""


class Patience:
    """Makes calls, each with a time limit.

    Python cannot end a thread. So a call that hangs is abandoned in its own thread. The
    thread ends at the next line of Python that it reaches, or with the process. A call
    that holds the interpreter's lock, as compiled code can, cannot be abandoned.
    Without a limit, each call is made in its caller's thread.

    Args:
        seconds: The limit of each call; None for no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._thread: _CallThread | None = None
        self._hangs = 0  # calls without an answer, in a row
        self._last_hang: TracebackType | None = None

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of `function`; a `NoAnswerError` if it
        takes too long, or earlier calls did.
        """
        try:
            with unharmed():
                return self._call(function, *args, **kwargs)
        except _leaves_a_test_out() as error:
            raise RecommenderError(
                f"it ended the test ({type(error).__name__}: {error}), which only a test may; what it cannot answer is "
                f"raised as pytest_recsys_mt.NotApplicable",
            ) from error

    def _call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._seconds is None:
            return function(*args, **kwargs)
        late = f"gave no answer within {self._seconds:g} s (recsys_timeout)"
        if self._hangs >= HANGS:
            text = f"{late} {HANGS} times in a row; no further calls are sent"
            raise NoAnswerError(text).with_traceback(self._last_hang)
        if self._thread is None:
            self._thread = _CallThread()
        answer = self._thread.begin(lambda: function(*args, **kwargs))
        if wait([answer], self._seconds).done:
            self._hangs = 0
            return answer.result()
        self._hangs += 1
        self._last_hang = self._thread.abandon()
        self._thread = None
        raise NoAnswerError(late).with_traceback(self._last_hang)


class _AbandonedError(BaseException):
    """Ends an abandoned call."""


class _CallThread:
    """A thread that makes one call after another, so that
    thread-local data stay in one thread.
    """

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(
            target=_make_calls,
            args=(self._waiting,),
            name="recsys-mt",
            daemon=True,
        )
        self._thread.start()
        # None ends the thread, which must not keep this object alive.
        weakref.finalize(self, self._waiting.put, None)

    def begin(self, call: Callable[[], T]) -> Future[T]:
        """Make a call in the thread, after those before it."""
        answer: Future[T] = Future()

        def make() -> None:
            try:
                answer.set_result(call())
            except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
                answer.set_exception(error)

        self._waiting.put(make)
        return answer

    def abandon(self) -> TracebackType | None:
        """Raise `_AbandonedError` in the thread, and return where it is."""
        thread_id = self._thread.ident or 0
        where = _traceback_of(sys._current_frames().get(thread_id))
        raise_in_thread: Any = ctypes.pythonapi.PyThreadState_SetAsyncExc
        raise_in_thread(ctypes.c_ulong(thread_id), ctypes.py_object(_AbandonedError))
        return where


def _traceback_of(frame: FrameType | None) -> TracebackType | None:
    """A traceback that ends at `frame`, as if an exception had been raised there."""
    where: TracebackType | None = None
    while frame is not None:
        where = TracebackType(where, frame, frame.f_lasti, frame.f_lineno or 0)
        frame = frame.f_back
    return where


def _make_calls(calls: SimpleQueue[Callable[[], None] | None]) -> None:
    with contextlib.suppress(_AbandonedError):
        while True:
            call = calls.get()
            if call is None:
                return
            call()


class _Unclosable:
    """A stream of the process that cannot be closed:
    pytest reads the captured text from it.
    """

    def __init__(self, stream: Any, name: str) -> None:
        self._stream = stream
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        raise ValueError(
            f"{self._name} belongs to the whole run, so a recommender may not close it",
        )


@contextlib.contextmanager
def unharmed() -> Iterator[None]:
    """Within it the standard streams cannot be closed; after it, they and the limits on
    open files and on recursion are as before.

    Only in the main thread: pytest exchanges the streams there, and another thread
    would restore old ones.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    streams = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    file_limits = resource.getrlimit(resource.RLIMIT_NOFILE) if resource else (0, 0)
    recursion_limit = sys.getrecursionlimit()
    for name, stream in streams.items():
        if stream is not None:  # `print` writes nothing where the stream is None
            setattr(sys, name, _Unclosable(stream, f"sys.{name}"))
    try:
        yield
    finally:
        for name, stream in streams.items():
            setattr(sys, name, stream)
        sys.setrecursionlimit(recursion_limit)
        if resource and resource.getrlimit(resource.RLIMIT_NOFILE) != file_limits:
            # A process that lowered the hard limit, too, may not raise it again.
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, file_limits)


def _leaves_a_test_out() -> tuple[type[BaseException], ...]:
    """The exceptions that leave a test out: by them a recommender could excuse itself
    from a promise that it breaks.

    `pytest.fail` is none of them: by it pytest-timeout ends a call that hangs.
    """
    import pytest  # only once something is raised: the process that answers elsewhere runs no tests

    return pytest.skip.Exception, pytest.xfail.Exception
