"""Which model made a result: a hash of the code and data that simulations follow from."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from ...compiled.loader import ROOT

_FOLDERS = ("model", "scenarios")
WITHOUT = ("scenarios/pictures", "scenarios/workers", "scenarios/timeline", "scenarios/comparison", "scenarios/advice")
"""Folders that no result of a simulation follows from: they show results, compare them, or share the work."""


@cache
def model_fingerprint() -> str:
    """Hash of the code and data of the model and the scenarios, and of the release of numpy that draws for them."""
    digest = hashlib.sha256(f"numpy {np.__version__}\n".encode())
    for folder in _FOLDERS:
        hash_folder(digest, folder)
    return digest.hexdigest()[:16]


def hash_folder(digest: hashlib._Hash, folder: str) -> None:
    """Add the code and data of a folder of the package, and of those in it, to a hash."""
    for path in sorted((ROOT / folder).rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in (".py", ".yaml", ".json") and not any(name.startswith(f"{each}/") for each in WITHOUT):
            content = path.read_bytes().replace(b"\r\n", b"\n")
            digest.update(f"{name} {len(content)}\n".encode())
            digest.update(content)


def model_name() -> str:
    """The release and the hash, for people."""
    try:
        release = version("raidsim")
    except PackageNotFoundError:
        release = "unreleased"
    return f"raidsim {release}, model {model_fingerprint()}"
