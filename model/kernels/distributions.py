"""Distributions as other names of kernels: which one a release runs, and which kernel of the catalogue stands in.

A family is a YAML file in `catalogue/distributions`; its releases are named by family and version ("debian12").
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from pydantic import Field

from ..files.description import Spec
from ..files.description_errors import validate
from ..files.yaml_files import read_yaml

_FOLDER = Path(__file__).parent / "catalogue" / "distributions"
_BUILD = re.compile(r"-(\d+)[\d.]*\.el(\d+)")
"""Build and major release in the kernel release of RHEL and its rebuilds: 4.18.0-305.12.1.el8_4."""
_REBUILT = "rhel"


class Release(Spec):
    """What a release of a distribution runs."""

    runs: str
    """Version of its kernel, with the build where the distribution counts them."""
    kernel: str
    """The kernel of the catalogue that the model runs for it."""
    note: str = ""
    """What else differs, and what of it was checked."""


class _Family(Spec):
    """A file: releases by version."""

    also: dict[str, int] = Field(default_factory=dict)
    """Other distributions that are built from the same source, with the first major release of each."""
    source: str
    releases: dict[str, Release]
    """Releases, by version."""


@cache
def distributions() -> dict[str, Release]:
    """Every release by its name, families in alphabetical order, releases as their file has them."""
    found: dict[str, Release] = {}
    for path in sorted(_FOLDER.glob("*.yaml")):
        family = validate(_Family, *read_yaml(path))
        for name, first in {path.stem: 0, **family.also}.items():
            for version, release in family.releases.items():
                if int(version.partition(".")[0]) >= first:
                    found[f"{name}{version}"] = release
    return found


def of_build(release: str) -> str | None:
    """The distribution of a kernel release ("4.18.0-305.el8.x86_64"); None for one without a build of RHEL."""
    match = _BUILD.search(release)
    if match is None:
        return None
    build, major = int(match[1]), match[2]
    known = [(int(entry.runs.rpartition("-")[2]), name) for name, entry in _minors(major).items()]
    older = [pair for pair in known if pair[0] <= build]
    if older:
        return max(older)[1]
    whole = f"{_REBUILT}{major}"
    return whole if whole in distributions() else None


def _minors(major: str) -> dict[str, Release]:
    """The minor releases of a major one ("8.4")."""
    start = f"{_REBUILT}{major}."
    return {name: entry for name, entry in distributions().items() if name.startswith(start)}
