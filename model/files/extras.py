"""Libraries that only some commands need: how to install what is missing, from where the user is."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_MARKER = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")


def how_to_install(extra: str) -> str:
    """Say how the libraries of an extra are installed.

    In a checkout this is a target of `make` or an editable installation; otherwise the libraries are named, because
    raidsim is on no package index.

    Parameters
    ----------
    extra
        A name of ``[project.optional-dependencies]``.
    """
    if (_ROOT / "Makefile").is_file() and (_ROOT / "pyproject.toml").is_file():
        command = "make web" if extra == "web" else f".venv/bin/pip install -e '.[{extra}]'"
        return f"expected, in the checkout: {command}"
    libraries = []
    for line in importlib.metadata.requires("raidsim") or ():
        requirement, _, marker = line.partition(";")
        found = _MARKER.search(marker)
        if found is not None and found[1] == extra:
            libraries.append(f"'{requirement.strip()}'")
    return f"expected: pip install {' '.join(libraries)}"
