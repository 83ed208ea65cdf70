"""The public names: which there are, how they are called, and what loading them costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import raidsim
from raidsim.tests.api import typed_use
from raidsim.tests.api.signatures import FROZEN, signatures

HEAVY = {"numpy", "scipy", "pydantic", "simpy", "rich", "yaml", "ruamel", "matplotlib", "pandas", "typer"}


def test_names_and_signatures_are_frozen() -> None:
    """Protects programs that use raidsim: a name or parameter changes only with this list, and is then in the changes.

    ``python -m raidsim.tests.api.signatures`` writes the list anew.
    """
    assert signatures() == FROZEN.read_text(encoding="utf-8")


def test_every_name_is_in_the_typed_file() -> None:
    """Protects the types: mypy reads a file in strict mode that uses every public name."""
    tree = ast.parse(Path(typed_use.__file__).read_text(encoding="utf-8"))
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    used |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert set(raidsim.__all__) - used == set()


def test_loading_raidsim_loads_nothing_heavy() -> None:
    """Protects an import in a few milliseconds: numpy, pydantic and the rest are loaded with the first name used."""
    code = "import sys, raidsim; print(*sys.modules); raidsim.InputError; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for modules in done.stdout.splitlines():
        assert HEAVY & {name.split(".")[0] for name in modules.split()} == set()


def test_names_are_found_and_misspelt_ones_refused() -> None:
    """Protects completion in a notebook, and from a misspelt name that says nothing of the right one."""
    assert dir(raidsim) == sorted(raidsim.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'rum'") as caught:
        raidsim.rum  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("rum", raidsim)


def test_every_public_name_is_documented() -> None:
    """Protects help(): every public function and class says what it does, and every parameter what it means."""
    for name in set(raidsim.__all__) - {"__version__"}:
        value = getattr(raidsim, name)
        assert value.__doc__, name
        if not isinstance(value, type):
            text = value.__doc__.partition("Parameters")[2]
            for parameter in value.__annotations__.keys() - {"return"}:
                assert parameter in text, (name, parameter)
