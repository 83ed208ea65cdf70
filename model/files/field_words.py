"""What the fields of a description mean, in the one place where that is written: the docstrings that follow them.

A docstring is about the field above it, and about the fields directly above that, as far as they have no words of their
own and no blank line is between:

    read_expire: Duration = 0.125
    write_expire: Duration = 0.25
    \"\"\"Age at which a request is served before its turn.\"\"\"

The JSON schema, the tables of the manual and the lists of fields are made from that. A field's unit is that of its
type, and where its mechanism is off follows from its type and default (:mod:`.switches`).
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from importlib import import_module
from pathlib import Path

COMMON = {
    "kind": "Which of the descriptions it is.",
    "program": "Which program it is.",
    "source": "Where the numbers are from.",
    "name": "Shown with the results.",
    "model": "The maker's name of it.",
}
"""Fields that mean the same in every description, unless one says otherwise."""
_OTHERS = ("builtins", "pydantic", "typing")
"""Packages whose classes describe nothing."""
_UNIT = re.compile(r"(_s_per_byte|_bytes|_s)$")
_ROOT = Path(__file__).resolve().parent.parent.parent


def field_words(description: type) -> dict[str, str]:
    """What a description says about each field, its own or inherited, as plain text on one line.

    Fields that mean what those of another class mean have their words there: `means_as` of the description names it
    ("raidsim.model.tasks.prices:Prices"). The names may have a unit at the end there.

    Parameters
    ----------
    description
        A pydantic model or a dataclass.
    """
    words: dict[str, str] = {}
    for kind in reversed(description.__mro__):
        if kind.__module__.partition(".")[0] in _OTHERS:
            continue
        module, _, name = str(vars(kind).get("means_as", "")).partition(":")
        if name:
            alike = field_words(getattr(import_module(module), name))
            of_others = alike | {_UNIT.sub("", field): said for field, said in alike.items()}
            words |= of_others | _own_words(kind, set(of_others))
        else:
            words |= _own_words(kind, set())
    return words


def _own_words(kind: type, of_others: set[str]) -> dict[str, str]:
    """The words of a class itself; a field whose words are in another class has others only right behind it."""
    body, lines = _body(kind)
    words: dict[str, str] = {}
    together: list[str] = []
    for statement in body:
        if not lines[statement.lineno - 2].strip():
            together = []
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            together.append(statement.target.id)
            continue
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            about = [name for name in together[:-1] if name not in of_others and name not in COMMON] + together[-1:]
            words |= dict.fromkeys(about, plain(str(statement.value.value)))
        together = []
    return words


def _body(kind: type) -> tuple[list[ast.stmt], list[str]]:
    """The statements of a class, and the lines that they are numbered by; of a compiled class those of its source."""
    try:
        source = textwrap.dedent(inspect.getsource(kind))
    except (OSError, TypeError):
        path = _ROOT.joinpath(*kind.__module__.split(".")[1:]).with_suffix(".py")
        # A class that is made at run time has no source, and no words of its own.
        source = path.read_text(encoding="utf-8") if path.is_file() else ""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and node.name == kind.__name__:
            return node.body, source.splitlines()
    return [], []


def plain(text: str) -> str:
    """Docstring markup as plain text on one line."""
    text = re.sub(r":\w+:`[~.]?([^`<]*?)`", lambda match: match[1].rsplit(".", 1)[-1], text)
    return " ".join(text.replace("``", "'").replace("`", "'").split())
