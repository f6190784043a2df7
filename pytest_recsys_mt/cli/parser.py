"""The parser of `recsys-mt`, which suggests a word for one that it does not know."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """Parses arguments, and suggests a word in place of an unknown one."""

    def error(self, message: str) -> NoReturn:
        """End the program with the error, and a suggestion."""
        import difflib
        import re

        from pytest_recsys_mt.safety.errors import abridged

        typed = re.search(
            r"invalid choice: '([^']*)'|unrecognized arguments: (-[^\s=]*)",
            message,
        )
        if typed is not None:
            # Of equal words that of the outer command counts.
            known = dict(reversed([*_known(self)]))
            word = typed[1] or typed[2]
            near = difflib.get_close_matches(word, known, 1)
            if near:
                # A word that was spelt right was typed at the wrong place.
                meant = known[word] if near[0] == word else near[0]
                message += f"; did you mean {meant!r}?"
            else:
                message += f"; see {self.prog} --help"
        super().error(abridged(message))


def _known(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """The words that a command and those below it know,
    each with the words to type for it.
    """
    for action in parser._actions:
        for word in (*action.option_strings, *map(str, action.choices or ())):
            yield word, word
        if isinstance(action.choices, Mapping):
            for below in action.choices.values():
                for word, typed in _known(below):
                    # The name of a command below is typed after that one.
                    yield (
                        word,
                        typed
                        if typed.startswith("recsys-mt")
                        else f"{below.prog} {typed}",
                    )


class Version(argparse.Action):
    """The switch that prints the version."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(
            option_strings,
            dest,
            nargs=0,
            help="print the version, and stop",
        )

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"recsys-mt {version('pytest-recsys-mt')}")
        parser.exit()
