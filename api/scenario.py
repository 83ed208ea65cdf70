"""Scenarios as values: loaded or written down, changed by keyword, written as YAML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from html import escape
from inspect import Parameter, signature
from os import PathLike
from pathlib import Path
from typing import Any, Self

from ..model.core.errors import InputError
from ..model.files.description_errors import located
from ..scenarios.description.scenario import ScenarioSpec
from ..scenarios.designs.array_words import array_words
from ..scenarios.designs.pool_words import pool_words
from ..scenarios.documents.changes.aliases import ALIASES
from ..scenarios.documents.document import Document, document_file, document_from, read_document
from ..scenarios.documents.extends import parse_layer, read_text
from ..scenarios.documents.library import PREFIX, library_names, library_summary
from ..scenarios.documents.schema import document_schema
from ..scenarios.documents.text import changed_text, plain_text
from ..scenarios.documents.written import written

__all__ = [
    "PREFIX",
    "SEPARATOR",
    "Scenario",
    "Source",
    "changed_by",
    "changed_text",
    "document_file",
    "document_schema",
    "is_one_value",
    "library_names",
    "library_summary",
    "parse_layer",
    "paths",
    "plain_text",
    "read_document",
    "read_text",
    "scenario_of",
    "written",
]


_ARRAY = "md0"
_NAME = "scenario"
SEPARATOR = "__"
"""What replaces the dot of a path in a keyword: ``machine__cpu__cores``."""


class Scenario:
    """A machine, its arrays and a load. A scenario never changes: `with_` gives another one.

    Parameters
    ----------
    machine
        Name of a machine of the catalogue, or a mapping as in a scenario file. Default: the machine of a scenario file
        that names none.
    array
        The only array: its level (``"raid6"``) or a mapping. Default: none, or `arrays`.
    arrays
        Several arrays, by name.
    workload
        The load, a mapping as in a scenario file. Default: the load of a scenario file that names none.
    name
        Shown with the results.
    changes
        Anything else, as `with_` takes it: ``disks=12``, ``depth=32``, ``kernel="linux-6.1"``.

    Raises
    ------
    InputError
        If a keyword means nothing; the message names the closest one.

    Examples
    --------
    >>> from raidsim import Scenario
    >>> Scenario(machine="nas", array="raid5", workload={"kind": "load", "block_size": "4KiB"}, disks=6)
    Scenario('scenario': md0: md RAID 5 of 6, chunk 512 KiB, bitmap 64 MiB; load)
    """

    __slots__ = ("_document", "_spec")

    _document: Document
    _spec: ScenarioSpec | None

    def __init__(
        self,
        machine: str | Mapping[str, Any] | None = None,
        array: str | Mapping[str, Any] | None = None,
        workload: Mapping[str, Any] | None = None,
        *,
        arrays: Mapping[str, Any] | None = None,
        name: str = _NAME,
        **changes: Any,
    ) -> None:
        if array is not None and arrays is not None:
            raise InputError("Scenario", "found array and arrays", "expected: one of the two")
        given = {
            "name": name,
            "machine": machine,
            "arrays": {_ARRAY: array} if array is not None else arrays,
            "workload": workload,
        }
        data = {key: _data(value) for key, value in given.items() if value is not None}
        self._document = document_from(plain_text(data), name).changed(paths(changes), "Scenario")
        self._spec = None

    @classmethod
    def load(cls, source: str | PathLike[str], sets: Sequence[str] = ()) -> Self:
        """Read a scenario.

        Parameters
        ----------
        source
            Name of a scenario of the library (`library` lists them), or a scenario file.
        sets
            Changes as the commands take them: "depth=32", "layout=raid6".

        Raises
        ------
        InputError
            If there is neither; the message names the closest scenario.
        """
        return cls.of(read_document(source if isinstance(source, str) else Path(source), sets))

    @classmethod
    def from_yaml(cls, text: str | PathLike[str]) -> Self:
        """Read a scenario from YAML.

        Parameters
        ----------
        text
            The YAML itself, or a path object of a file that holds it.
        """
        return cls.of(document_from(text, _NAME)) if isinstance(text, str) else cls.load(text)

    @classmethod
    def of(cls, document: Document) -> Self:
        """The scenario of a document."""
        made = cls.__new__(cls)
        made._document = document
        made._spec = None
        return made

    @staticmethod
    def library() -> tuple[str, ...]:
        """Names of the scenarios that come with raidsim."""
        return library_names()

    def with_(self, changes: Mapping[str, Any] | None = None, /, **keywords: Any) -> Self:
        """Return a copy with other values.

        Parameters
        ----------
        changes
            New values by dotted path: ``{"machine.cpu.cores": 8}``.
        keywords
            The same by keyword: short names (``layout="raid6"``, ``disks=12``, ``depth=32``), or paths with two
            underscores for each dot (``machine__cpu__cores=8``). Values are as in a scenario file: numbers, or text
            with a unit (``"64KiB"``). None removes what stands there.

        Raises
        ------
        InputError
            If a path means nothing; the message names the closest ones.

        Examples
        --------
        >>> from raidsim import Scenario
        >>> Scenario.load("database-server").with_(layout="raid6", disks=12)
        Scenario('database server': md0: md RAID 6 of 12, chunk 256 KiB, bitmap 64 MiB; load)
        """
        return type(self).of(self._document.changed({**(changes or {}), **paths(keywords)}, "changed"))

    @property
    def document(self) -> Document:
        """The scenario as it was written, with the lines of its values."""
        return self._document

    @property
    def spec(self) -> ScenarioSpec:
        """The whole scenario, every default filled in.

        Raises
        ------
        InputError
            If something in it cannot be.
        """
        if self._spec is None:
            self._spec = self._document.spec()
        return self._spec

    @property
    def name(self) -> str:
        """What the scenario is called."""
        return self._document.title

    def to_yaml(self, full: bool = False) -> str:
        """Return the scenario as the text of a scenario file.

        Parameters
        ----------
        full
            If true, every default is filled in.
        """
        return plain_text(written(self.spec) if full else {"name": self.name, **self._document.data})

    def located(self, error: InputError) -> InputError:
        """The same error with the line of the scenario's file that it is about."""
        return located(error, self._document.positions)

    def __repr__(self) -> str:
        try:
            spec = self.spec
        except InputError as error:
            return f"Scenario({self.name!r}: {error})"
        return f"Scenario({self.name!r}: {'; '.join([*array_words(spec), *pool_words(spec), spec.workload.kind])})"

    def _repr_html_(self) -> str:
        return f"<div><p><b>{escape(repr(self))}</b></p><pre>{escape(self.to_yaml())}</pre></div>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._document == other._document

    def __hash__(self) -> int:
        return hash(self._document)


Source = Scenario | str | PathLike[str]
"""A scenario, or what `Scenario.load` takes."""


def scenario_of(source: Source) -> Scenario:
    """The scenario that is meant."""
    return source if isinstance(source, Scenario) else Scenario.load(source)


def changed_by(
    scenario: Scenario, keywords: Mapping[str, Any], function: Callable[..., Any], also: Iterable[str] = ()
) -> Scenario:
    """The scenario with the values that a function was given by keyword.

    Parameters
    ----------
    scenario
        The scenario.
    keywords
        As :meth:`Scenario.with_` takes them.
    function
        Whose keyword-only parameters are proposed for a name that is close to one of them and means nothing.
    also
        More keywords that the function was given.

    Raises
    ------
    InputError
        If a keyword means nothing.
    """
    own = [name for name, each in signature(function).parameters.items() if each.kind is Parameter.KEYWORD_ONLY]
    for name in (*keywords, *also):
        close = get_close_matches(name, own, n=1, cutoff=0.75)
        if close and name not in ALIASES and name.split(SEPARATOR)[0] not in ScenarioSpec.model_fields:
            raise InputError(function.__name__, f"found {name}", f"did you mean {close[0]}?")
    return scenario.with_(**keywords) if keywords else scenario


def is_one_value(value: Any) -> bool:
    """Whether a keyword's value is one value of a scenario, and no list of alternatives."""
    return value is None or isinstance(value, (str, int, float, Mapping, PathLike))


def paths(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Values by dotted path, of keywords that have two underscores for each dot."""
    return {name.replace(SEPARATOR, "."): _data(value) for name, value in keywords.items()}


def _data(value: Any) -> Any:
    """The same value as a file would hold it."""
    if isinstance(value, Mapping):
        return {str(key): _data(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_data(inner) for inner in value]
    return str(value) if isinstance(value, PathLike) else value
