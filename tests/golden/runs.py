"""Runs the kept scenarios as a person runs them, and tells their results to the last bit.

A result is the JSON that the command prints, in which a float stands with as many digits as tell it from all others.
"""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import tempfile
from pathlib import Path
from typing import Any

import yaml

from raidsim.cli.main import main

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.json"
SCENARIOS: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "scenarios.yaml").read_text(encoding="utf-8"))


def result(name: str) -> Any:
    """What the command of a scenario prints with --json; where it names a file as its result, the lines of that."""
    scenario = SCENARIOS[name]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for file, content in scenario["files"].items():
            Path(file).write_text(content, encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()) as said:
            status = 0
            try:
                main([*shlex.split(scenario["command"]), "--json"])
            except SystemExit as ended:
                status = int(ended.code or 0)
        if status:
            raise RuntimeError(f"{name}: status {status}: {said.getvalue().strip()}")
        if "result" in scenario:
            return Path(scenario["result"]).read_text(encoding="utf-8").splitlines()
        return json.loads(printed.getvalue())


def as_text(found: Any) -> str:
    """A result as lines of JSON: one value a line, each float with all its digits."""
    return json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
