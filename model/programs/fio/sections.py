"""The grammar of fio's job files (init.c, parse.c): sections, comments, variables, included files."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ...core.errors import InputError
from .options import Option, check_value, full_name, in_order

_GLOBAL = "global"
_VARIABLE = re.compile(r"\$\{(\w+)\}")
MOST_JOBS = 4096
"""Clones and jobs in all, as fio's REAL_MAX_JOBS."""
_COMMENT = re.compile("[;#]")
"""Ends a line wherever it stands, in a value, too (strip_blank_end)."""
_KEYWORD = re.compile(r"\$(pagesize|mb_memory|ncpus)\b")
_DEEPEST = 8
"""Files included by files included by ..."""
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_UNITS = re.compile(r"(\d+)([kmgtp])(?![\w])", re.IGNORECASE)


class Section(NamedTuple):
    """A job of a job file.

    Attributes
    ----------
    name
        Its name.
    options
        All its options, those of the global sections before it included, by their full names.
    own
        Those of its own section, in the order in which fio reads them.
    shared
        Those of the global sections before it.
    place
        Where it begins.
    """

    name: str
    options: dict[str, Option]
    own: dict[str, Option]
    shared: dict[str, Option]
    place: str


def sections(
    text: str,
    name: str = "job file",
    environment: Mapping[str, str] | None = None,
    include: Callable[[str], str] | None = None,
    keywords: Mapping[str, int] | None = None,
    numbered: bool = True,
    defaults: str = "",
) -> list[Section]:
    """The jobs of a job file.

    Parameters
    ----------
    text, name
        The file, and what errors call it.
    environment
        For ``${NAME}``.
    include
        Gives the text of an included file; OSError or ValueError if it cannot.
    keywords
        Values of ``$pagesize``, ``$mb_memory`` and ``$ncpus``.
    numbered
        Whether errors say the line: not of a text that nobody has seen.
    defaults
        Options on fio's command line in addition to the file, as a global section; those of the file go before them.

    Raises
    ------
    InputError
        If a line is neither section nor option, if fio has no such option, or if a variable or an included file is
        not there.
    """
    found: list[Section] = []
    shared: dict[str, Option] = {}
    if defaults:
        shared = sections(f"{defaults}[job]\n", "command line", environment, None, keywords, numbered=False)[0].shared
    own: dict[str, Option] | None = None
    for at, line in _lines(text, name, include, 0):
        place = at if numbered else name
        if line.startswith("["):
            title = line[1:].partition("]")[0].strip()
            if not line.endswith("]") or not title:
                raise InputError(place, f"found {line[:80]!r}", "expected: [name of the job]")
            if title.startswith(_GLOBAL):
                own = shared
            else:
                if len(found) == MOST_JOBS:
                    raise InputError(place, f"more than {MOST_JOBS} jobs", "expected: fewer")
                own = {}
                found.append(Section(title, {}, own, dict(shared), place))
            continue
        if own is None:
            found_line = f"found {line[:80]!r} before any section"
            raise InputError(place, found_line, "expected: a section first, [name of the job]")
        key, equals, value = line.partition("=")
        typed = key.strip()
        key = full_name(typed, place)
        value = _expanded(value.strip(), place, environment or {}, keywords or {})
        option = Option(value, f"{place}, {typed}", not equals)
        check_value(key, option)
        own.pop(key, None)
        own[key] = option
    return [
        Section(each.name, _merged(each.shared, each.own), in_order(each.own), in_order(each.shared), each.place)
        for each in found
    ]


def _merged(shared: dict[str, Option], own: dict[str, Option]) -> dict[str, Option]:
    return in_order({**{name: option for name, option in shared.items() if name not in own}, **own})


def _lines(text: str, name: str, include: Callable[[str], str] | None, depth: int) -> Iterable[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        line = _COMMENT.split(line, maxsplit=1)[0].strip()
        place = f"{name}, line {number}"
        if not line:
            continue
        if line.startswith(("include ", "include\t")):
            if include is None:
                raise InputError(place, f"found {line!r}", "expected: no included files here")
            if depth >= _DEEPEST:
                raise InputError(place, f"files included {_DEEPEST} deep", "expected: fewer")
            included = line[len("include") :].strip()
            try:
                content = include(included)
            except (OSError, ValueError) as error:  # ValueError: no text, or no name that a file can have
                why = error.strerror if isinstance(error, OSError) else "it is no text"
                raise InputError(place, f"{included!r} cannot be read ({why})", "expected: a text file") from None
            yield from _lines(content, included, include, depth + 1)
        else:
            yield place, line


def _expanded(value: str, place: str, environment: Mapping[str, str], keywords: Mapping[str, int]) -> str:
    def variable(found: re.Match[str]) -> str:
        if found[1] not in environment:
            raise InputError(place, f"the variable {found[1]} is not set", "expected: variables of the environment")
        return environment[found[1]]

    def keyword(found: re.Match[str]) -> str:
        if found[1] not in keywords:
            raise InputError(place, f"found ${found[1]}", "expected: only with a machine")
        return str(keywords[found[1]])

    plain = _KEYWORD.sub(keyword, _VARIABLE.sub(variable, value))
    return _calculated(plain, place) if (plain != value and re.search(r"[-+*/%]", plain)) or plain[:1] == "(" else plain


def _calculated(text: str, place: str) -> str:
    """What an expression comes to, "(2*4k)"; other values are as they are."""
    spelt = _UNITS.sub(lambda found: f"({found[1]}*{1024 ** (' kmgtp'.index(found[2].lower()))})", text)
    if re.fullmatch(r"[\d\s.()*/%+-]{1,200}", spelt) is None:
        return text
    try:
        return str(int(_value(ast.parse(spelt, mode="eval").body)))
    except (SyntaxError, ValueError, ArithmeticError):
        allowed = "expected: numbers, + - * / % and parentheses"
        raise InputError(place, f"found the expression {text!r}", allowed) from None


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return float(_OPERATORS[type(node.op)](_value(node.left), _value(node.right)))
    raise ValueError(ast.dump(node))
