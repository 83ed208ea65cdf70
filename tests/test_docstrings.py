"""Examples in docstrings: what stands behind >>> gives what the next line shows."""

from __future__ import annotations

import ast
import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import raidsim

ROOT = Path(raidsim.__file__).parent
PACKAGES = ("model", "scenarios", "calibration", "validation", "api", "serve")


def _examples() -> Iterator[doctest.DocTest]:
    """Every docstring of the package with an example, from the source, so that compiled modules have them too."""
    parser = doctest.DocTestParser()
    for folder in PACKAGES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            if ">>> " not in source:
                continue
            module = ".".join(("raidsim", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    text = ast.get_docstring(node, clean=False) or ""
                    if ">>> " in text:
                        name = f"{module}.{getattr(node, 'name', '')}".removesuffix(".")
                        yield parser.get_doctest(text, {"__name__": module}, name, str(path), 0)


EXAMPLES = list(_examples())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_example_gives_what_it_shows(example: doctest.DocTest) -> None:
    """Protects readers of the reference from examples that no longer work."""
    module = importlib.import_module(example.globs["__name__"])
    example.globs.update(vars(module))
    found = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)
    assert found.attempted > 0
    assert found.failed == 0


def test_there_are_examples() -> None:
    """Protects the test above from finding nothing: layouts, drives, documents and runs have some."""
    names = {example.name.rsplit(".", 1)[-1] for example in EXAMPLES}
    assert names >= {"layout_for", "drive", "read_document", "simulate", "parse_size"}
