"""What the source may not contain: ways by which a file from others could become code, or a name a command."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import raidsim

ROOT = Path(raidsim.__file__).parent
UNPICKLED = {"pickle", "cPickle", "shelve", "marshal", "dill", "cloudpickle", "joblib", "jsonpickle"}
EXECUTED = {"eval", "exec", "compile", "__import__"}
SAFE_LOADERS = {"SafeLoader", "CSafeLoader"}


def sources() -> Iterator[Path]:
    """Every module that is installed."""
    folders = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    for name in folders:
        yield from sorted((ROOT / name.removeprefix("raidsim").lstrip(".").replace(".", "/")).glob("*.py"))


def complaints(text: str) -> list[str]:
    """What a module does that it may not, with its line."""
    found = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                bad = [each.name for each in names if each.name.split(".")[0] in UNPICKLED]
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in UNPICKLED:
                bad = [module]
            case ast.Call(func=ast.Name(id=name)) if name in EXECUTED:
                bad = [name]
            case ast.Call(func=ast.Attribute(value=ast.Name(id="yaml"), attr=name)):
                bad = [f"yaml.{name}"] if "load" in name and not _is_safe(node) else []
            case ast.Call(func=ast.Name(id="YAML"), keywords=keywords):
                kinds = [each.value.value for each in keywords if isinstance(each.value, ast.Constant)]
                bad = [] if kinds and set(kinds) <= {"rt", "safe"} else ["YAML"]
            case ast.Call(func=ast.Attribute(value=ast.Name(id="os"), attr="system" | "popen" as name)):
                bad = [f"os.{name}"]
            case ast.Call(func=ast.Attribute(value=ast.Name(id="tempfile"), attr="mktemp")):
                bad = ["tempfile.mktemp"]
            case ast.keyword(arg="shell", value=ast.Constant(value=True)):
                bad = ["shell=True"]
            case ast.keyword(arg="allow_pickle", value=ast.Constant(value=True)):
                bad = ["allow_pickle=True"]
            case _:
                continue
        found += [f"{getattr(node, 'lineno', 0)}: {each}" for each in bad]
    return found


def _is_safe(call: ast.Call) -> bool:
    assert isinstance(call.func, ast.Attribute)
    loaders = [each.value for each in call.keywords if each.arg == "Loader"] + call.args[1:]
    names = {each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in loaders}
    return call.func.attr in ("safe_load", "safe_load_all") or (bool(names) and names <= SAFE_LOADERS)


def test_no_file_becomes_code() -> None:
    """Protects whoever opens a file of others: no pickle, no eval, no YAML that makes objects, no shell."""
    modules = list(sources())
    assert len(modules) > 300
    found = {str(path.relative_to(ROOT)): complaints(path.read_text(encoding="utf-8")) for path in modules}
    assert {name: bad for name, bad in found.items() if bad} == {}


@pytest.mark.parametrize(
    "text",
    [
        *("import pickle", "from pickle import loads", "import numpy, dill.source", "eval('1')", "exec(text)"),
        *("yaml.load(text)", "yaml.load(text, Loader=yaml.Loader)", "yaml.unsafe_load(text)", "YAML(typ='unsafe')"),
        *("YAML()", "os.system('ls')", "run('ls', shell=True)", "np.load(path, allow_pickle=True)"),
    ],
)
def test_each_way_is_seen(text: str) -> None:
    """Counter-test: every one of them is complained of."""
    assert complaints(text)


@pytest.mark.parametrize("text", ["yaml.load(text, Loader=yaml.CSafeLoader)", "YAML(typ='rt')", "ast.parse(text)"])
def test_safe_ways_are_not_complained_of(text: str) -> None:
    """Protects the search from being switched off for its false alarms."""
    assert not complaints(text)


def test_every_dependency_is_reviewed() -> None:
    """Protects the list in SECURITY.md: what runs, the optional ones too, is there with what it is trusted with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [
        *project["dependencies"],
        *(each for name in ("plot", "sensitivity", "sweep", "traces", "web") for each in extras[name]),
    ]
    listed = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert [each for each in wanted if f"| {each.split('>')[0]} |" not in listed] == []
