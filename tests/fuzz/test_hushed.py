"""What `make fuzz` shows before its table."""

from __future__ import annotations

import importlib
import sys

import pytest

from raidsim.tests.fuzz.hushed import hushed


def test_only_the_lines_of_the_library_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the table of `make fuzz` from 400 lines above it, and a warning among them from being lost."""
    with hushed("INFO: Instrumenting"):
        sys.stderr.write("INFO: Instrumenting raidsim.cli\nwarning: something\nINFO: Instrumenting raidsim.web\n")
    assert capsys.readouterr().err == "warning: something\n"


def test_an_import_error_still_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects against a fuzzer that ends without a word: the error goes on, with what was said before it."""

    def imported() -> None:
        with hushed("INFO: Instrumenting"):
            sys.stderr.write("INFO: Instrumenting raidsim.cli\nwarning: before it\n")
            importlib.import_module("no_such_module")

    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        imported()
    assert capsys.readouterr().err == "warning: before it\n"
