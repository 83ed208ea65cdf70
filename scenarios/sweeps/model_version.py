"""Which model made a result: a hash of the code and data that simulations follow from."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from ...compiled.loader import ROOT

_FOLDERS = ("model", "scenarios")


@cache
def model_fingerprint() -> str:
    """Hash of the code and data of the model and the scenarios, and of the release of numpy that draws for them."""
    digest = hashlib.sha256(f"numpy {np.__version__}\n".encode())
    for folder in _FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".yaml", ".json"):
                content = path.read_bytes().replace(b"\r\n", b"\n")
                digest.update(f"{path.relative_to(ROOT).as_posix()} {len(content)}\n".encode())
                digest.update(content)
    return digest.hexdigest()[:16]


def model_name() -> str:
    """The release and the hash, for people."""
    try:
        release = version("raidsim")
    except PackageNotFoundError:
        release = "unreleased"
    return f"raidsim {release}, model {model_fingerprint()}"
