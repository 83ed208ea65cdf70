"""Ciphers of disk encryption: what a core has to do for a byte and for a sector, as data with sources.

The rate of a core is its clock over the cycles of a byte; ``cryptsetup benchmark`` measures it in memory, in pieces of
64 KiB. dm-crypt encrypts sector by sector, each with a call and an initialization vector of its own, which is why
sectors of 4,096 bytes are faster than those of 512.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import Field

from ..files.catalogue_file import SourcedValue, catalogue_file, load_sourced
from ..files.description import Spec

CATALOGUE = Path(__file__).parent / "catalogue"


class CipherSpec(Spec):
    """One cipher on one kind of core."""

    key: int = Field(gt=0)
    """Bits of the key."""
    cycles: float = Field(gt=0)
    """Of a core for a byte."""
    sector_cycles: float = Field(ge=0)
    """Of a core for a sector, besides."""
    vector: bool = False
    """Whether it takes the vector AES code that Linux has since 6.10."""


@lru_cache
def _loaded(path: Path) -> tuple[CipherSpec, dict[str, SourcedValue]]:
    return load_sourced(CipherSpec, path)


def cipher(name: str) -> CipherSpec:
    """The cipher called `name`; raises `InputError` naming the ones there are."""
    return _loaded(catalogue_file(CATALOGUE, "cipher", name))[0]


def cipher_sources(name: str) -> dict[str, SourcedValue]:
    """Where the numbers of a cipher come from, by field."""
    return dict(_loaded(catalogue_file(CATALOGUE, "cipher", name))[1])


def cipher_names() -> tuple[str, ...]:
    """All there are."""
    return tuple(sorted(path.stem for path in CATALOGUE.glob("*.yaml")))
