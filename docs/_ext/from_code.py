"""Reference pages that cannot fall behind: their tables are made from the code when the manual is built.

Directives:

`fields`
    Lists the fields of a description (`package.module:Class`): what may be written, what they are unless given, and
    what they mean.
`commands`
    Lists every command of raidsim with its arguments and options.
`printed`
    Runs a command that prints JSON, and lists what is in it.
`laws`
    Lists the laws that drawn scenarios are checked for, and the kept scenarios that break one.
`result-tables`, `trace-formats`
    List the tables of a store of results, and the formats of traces.
`effects`
    Lists the effects of `effects.yaml`, measured and modeled, with their ratio.
`mechanisms`
    Lists the optional mechanisms by the reason for which they are in the model, from `mechanisms.yaml`.
`fio-options`
    Lists what becomes of every option and engine of fio.
`modules`
    Lists all modules of the package by the first sentence of what they say.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import json
import math
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
import yaml
from docutils import nodes
from pydantic import BaseModel
from sphinx.util.docutils import SphinxDirective

import raidsim
from raidsim.cli.main import COMMANDS, _imported, main
from raidsim.model.files.field_words import COMMON, field_words
from raidsim.model.programs.fio.options import OptionEntry, option_table
from raidsim.scenarios.documents.written import written_value
from raidsim.scenarios.sweeps.result_file import IN_MEMORY, ResultFile
from raidsim.scenarios.traces.formats.table import FORMATS
from raidsim.validation.laws.broken import kept
from raidsim.validation.laws.laws import LAWS

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(raidsim.__file__).parent
PACKAGES = ("model", "scenarios", "calibration", "validation", "serve", "cli", "web")
_LONGEST = 12
"""Alternatives that are listed one by one."""


def cell(text: object) -> str:
    """Text for a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell(entry) for entry in line)} |" for line in lines) + "\n"


def words(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """What a JSON Schema allows, in words."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        found = root.get("$defs", {}).get(name, {})
        return words(found, root) if "enum" in found else name
    if "const" in schema:
        return f"`{json.dumps(schema['const']) if not isinstance(schema['const'], str) else schema['const']}`"
    if "enum" in schema:
        values = [f"`{value}`" for value in schema["enum"]]
        return ", ".join(values) if len(values) <= _LONGEST else f"{', '.join(values[:3])} and others"
    if "examples" in schema and "description" in schema:
        return str(schema["description"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            parts = [words(inner, root) for inner in schema[key] if inner.get("type") != "null"]
            return " or ".join(dict.fromkeys(parts))
    kind = schema.get("type")
    if kind == "array":
        inside = schema.get("items", schema.get("prefixItems", [{}])[0])
        return f"list of {words(inside, root)}"
    if kind == "object":
        inside = schema.get("additionalProperties")
        return f"by name: {words(inside, root)}" if isinstance(inside, dict) and inside else "a mapping"
    if kind in ("integer", "number"):
        return _number(schema, "whole number" if kind == "integer" else "number")
    return {"string": "text", "boolean": "`true` or `false`"}.get(str(kind), "anything")


def _number(schema: Mapping[str, Any], name: str) -> str:
    bounds = (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "to"), ("exclusiveMaximum", "below"))
    said = [f"{word} {schema[key]:g}" for key, word in bounds if key in schema]
    return " ".join([name, *said])


def fields_of(model: type[BaseModel]) -> list[tuple[str, str, str, str]]:
    """Name, what may be written, default and meaning of every field."""
    schema = model.model_json_schema(mode="validation")
    meanings = COMMON | field_words(model)
    rows: list[tuple[str, str, str, str]] = []
    said = ""
    for name, info in model.model_fields.items():
        key = info.alias or name
        if info.is_required():
            default = "required"
        else:
            value = info.get_default(call_default_factory=True)
            empty = value is None or (isinstance(value, tuple | list | dict) and not value)
            default = "-" if empty else f"`{_short(written_value(info, value))}`"
        meaning = meanings.get(name, "")
        shared = rows and meaning and meaning == said
        rows.append((f"`{key}`", words(schema["properties"][key], schema), default, '"' if shared else meaning))
        said = meaning
    return rows


def _short(value: Any) -> str:
    if isinstance(value, BaseModel):
        value = value.model_dump(exclude_defaults=True)
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def command_text(name: str) -> str:
    """A command in Markdown: what it is for, how it is called, its arguments and options."""
    command = _imported(name)
    context = typer.Context(command, info_name=f"raidsim {name}")
    usage = " ".join(command.collect_usage_pieces(context))
    said = " ".join((command.callback.__doc__ or "").split("\n\n")[0].split()) if command.callback else ""
    rows = []
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None:
            rows.append((f"`{record[0]}`", re.sub(r"(--[\w-]+)", r"`\1`", record[1])))
    if not any("--help" in row[0] for row in rows):
        rows.append(("`--help`", "Show what the command takes, and leave."))
    text = f"(command-{name})=\n## {name}\n\n{said or COMMANDS[name][1]}\n\n"
    return f"{text}```text\nraidsim {name} {usage}\n```\n\n{table(('option', 'does'), rows)}\n"


def flattened(value: Any, path: str = "") -> Iterator[tuple[str, str, Any]]:
    """Paths of a JSON document, with the kind of what is there and a sample; a list is known by its first entry."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flattened(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        yield from flattened(value[0], f"{path}[]")
    else:
        kinds = {bool: "true or false", int: "number", float: "number", str: "text", type(None): "null"}
        yield path, kinds.get(type(value), "empty"), value


def printed_json(arguments: Sequence[str]) -> Any:
    """What a command prints, run in the checkout."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()), contextlib.chdir(ROOT):
        try:
            main(list(arguments))
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"raidsim {shlex.join(arguments)} ended with status {end.code}") from end
    return json.loads(shown.getvalue())


class Fields(SphinxDirective):
    """Lists the fields of a description."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The table."""
        rows = fields_of(self._kind(self.arguments[0]))
        return self.parse_text_to_nodes(table(("key", "what it may be", "unless given", "meaning"), rows))

    def _kind(self, place: str) -> Any:
        module, _, name = place.partition(":")
        found = importlib.import_module(module)
        self.env.note_dependency(found.__file__ or "")
        return getattr(found, name)


class Commands(SphinxDirective):
    """Lists all commands."""

    def run(self) -> list[nodes.Node]:
        """A section for each."""
        os.environ["COLUMNS"] = "100"
        text = "\n".join(command_text(name) for name in sorted(COMMANDS))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


class Printed(SphinxDirective):
    """Lists what is in the JSON that a command prints."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The command and a table of paths."""
        command = self.arguments[0]
        rows = []
        for path, kind, value in flattened(printed_json(shlex.split(command))):
            sample = f"{value:.6g}" if isinstance(value, float) and math.isfinite(value) else value
            rows.append((f"`{path}`", kind, f"`{cell(sample)[:60]}`" if sample not in ("", None, [], {}) else ""))
        text = f"```text\n$ raidsim {command}\n```\n\n" + table(("path", "is", "here"), rows)
        return self.parse_text_to_nodes(text)


class Laws(SphinxDirective):
    """Lists the laws of every machine, and what is known to break them."""

    def run(self) -> list[nodes.Node]:
        """A row for each law, and one for each kept scenario that is open."""
        rows = [(f"`{law.name}`", law.statement, law.applies, law.tolerance) for law in LAWS.values()]
        text = table(("law", "statement", "applies to", "tolerance"), rows)
        broken = [(f"`{each.law}`", f"`{name}`", each.reason) for name, each in kept().items() if each.status == "open"]
        if broken:
            text += "\nThese scenarios, in `validation/laws/found`, break a law today:\n\n"
            text += table(("law", "scenario", "why"), broken)
        return self.parse_text_to_nodes(text)


class ResultTables(SphinxDirective):
    """Lists the tables of a store of results."""

    def run(self) -> list[nodes.Node]:
        """A row for each column."""
        rows = []
        with ResultFile(IN_MEMORY, write=True) as store:
            names = [name for (name,) in store.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for name in names:
                for _, column, kind, needed, _, key in store.db.execute(f"PRAGMA table_info({name})"):
                    kept = "key" if key else ("" if needed else "may be null")
                    rows.append((f"`{name}`", f"`{column}`", kind.lower(), kept))
        return self.parse_text_to_nodes(table(("table", "column", "is", ""), rows))


class TraceFormats(SphinxDirective):
    """Lists the formats of traces."""

    def run(self) -> list[nodes.Node]:
        """A row for each."""
        rows = [(f"`{name}`", known.title) for name, known in FORMATS.items()]
        return self.parse_text_to_nodes(table(("name", "format"), rows))


_FACTORS = {"M/s": 1e6, "k/s": 1e3, "GB/s": 1e9, "MB/s": 1e6, "KB/s": 1024.0, "GiB/s": 1 << 30, "MiB/s": 1 << 20}
_FACTORS |= {"ms": 1e-3, "us": 1e-6, "%": 0.01}


def measured_value(text: str) -> float:
    """A number with its unit, in SI units."""
    number, unit = text.split()
    return float(number) * _FACTORS[unit]


def effects() -> list[dict[str, Any]]:
    """The reported effects of arrays of fast drives, as `effects.yaml` has them."""
    return list(yaml.safe_load((ROOT / "docs" / "effects.yaml").read_text(encoding="utf-8")))


class Effects(SphinxDirective):
    """Lists reported effects, what the model gives, and the ratio."""

    def run(self) -> list[nodes.Node]:
        """A row for each run."""
        rows: list[tuple[str, ...]] = []
        last = 0
        for each in effects():
            star = "\\*" if each.get("tested") else ""
            number = "" if each["number"] == last else str(each["number"])
            last = each["number"]
            cell = f": `{each['cell']}`" if "cell" in each else ""
            effect = f"{each['effect']} (`{each['study']}`{cell})"
            modeled = each.get("modeled") or f"`missing`: {each['missing']}"
            ratio = ""
            if "modeled" in each:
                ratio = f"{measured_value(each['modeled']) / measured_value(each['measured']):.2f}"
            rows.append((f"{number}{star}", effect, each["measured"], modeled, ratio))
        head = ("", "effect, and the run of the study", "measured", "modeled", "ratio")
        return self.parse_text_to_nodes(table(head, rows))


class Mechanisms(SphinxDirective):
    """Lists optional mechanisms, and why each is there or is not any more."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A row for each mechanism of one reason."""
        found = yaml.safe_load((ROOT / "docs" / "mechanisms.yaml").read_text(encoding="utf-8"))[self.arguments[0]]
        return self.parse_text_to_nodes(table(("mechanism", ""), [(f"`{name}`", why) for name, why in found.items()]))


MODELED_ENGINES = {"sync", "async", "null"}
"""Kinds of engines of fio that are simulated."""


def fio_tables() -> dict[str, list[tuple[str, str]]]:
    """Names of fio's options and engines with the reason, by what becomes of them; equal reasons share a row."""
    options = option_table()

    def reasons(entries: Mapping[str, OptionEntry]) -> list[tuple[str, str]]:
        off = {name: " or ".join(f"`{value}`" for value in entry.off) for name, entry in entries.items()}
        return [
            (name, entry.why + (f" (expected: {off[name]})" if entry.off else "")) for name, entry in entries.items()
        ]

    engines = [(name, why) for name, why in options.engines.items() if why not in MODELED_ENGINES]
    kinds = {
        "simulated": reasons(options.simulated),
        "accepted, without a part in the simulation": reasons(options.accepted),
        "accepted where a job with `verify` reads nothing more": reasons(options.verifying),
        "refused": reasons(options.refused),
        "engines refused": engines,
    }
    found = {}
    for kind, rows in kinds.items():
        names: dict[str, list[str]] = {}
        for name, why in rows:
            names.setdefault(why, []).append(f"`{name}`")
        found[kind] = [(", ".join(alike), why) for why, alike in names.items()]
    return found


class FioOptions(SphinxDirective):
    """Lists what becomes of fio's options and engines."""

    def run(self) -> list[nodes.Node]:
        """A table for each kind."""
        text = "\n".join(table((kind, "because"), rows) for kind, rows in fio_tables().items())
        return self.parse_text_to_nodes(text)


def modules_of(package: Path) -> list[tuple[str, str]]:
    """Modules of a package and of those below it that are documented with it, each with its first sentence."""
    found = []
    for path in sorted(package.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        if said and path.name != "__init__.py":
            found.append((name, _first_sentence(said)))
    return found


def _first_sentence(text: str) -> str:
    """Up to the first stop that ends a sentence, as plain text."""
    line = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    line = re.sub(r":\w+:`[~.]*([^`]*)`", lambda match: f"`{match[1].rpartition('.')[2]}`", line).replace("``", "`")
    return re.split(r"(?<=[.:])\s+(?=[A-Z])", line)[0].rstrip(".:")


class Modules(SphinxDirective):
    """Lists all modules."""

    def run(self) -> list[nodes.Node]:
        """A section for each package."""
        text = ""
        for package in PACKAGES:
            said = ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8"))) or ""
            rows = [(f"`{name}`", sentence) for name, sentence in modules_of(ROOT / package)]
            text += f"## {package}\n\n{' '.join(said.split())}\n\n{table(('module', 'is for'), rows)}\n"
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directives."""
    app.add_directive("fields", Fields)
    app.add_directive("commands", Commands)
    app.add_directive("printed", Printed)
    app.add_directive("laws", Laws)
    app.add_directive("result-tables", ResultTables)
    app.add_directive("trace-formats", TraceFormats)
    app.add_directive("effects", Effects)
    app.add_directive("mechanisms", Mechanisms)
    app.add_directive("fio-options", FioOptions)
    app.add_directive("modules", Modules)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
