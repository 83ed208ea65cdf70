"""The tree of Linux 2.6.13, which tar and cp are run on: as measured, or of any other size and the same shape."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from pydantic import NonNegativeInt, PositiveInt

from ..core.errors import InputError
from ..files.description import Spec
from ..files.description_errors import load_spec
from .copying import SizeClass, Tree

_FILE = Path(__file__).parent / "catalogue" / "linux-2.6.13-tree.yaml"


class SizeClassSpec(Spec):
    """Files of at least `low` and less than `high` bytes: how many, and all their bytes."""

    low: NonNegativeInt
    high: PositiveInt
    """Least bytes of a file, and bytes that it has less than."""
    files: PositiveInt
    bytes: PositiveInt
    """How many files there are, and all their bytes."""


class TreeShape(Spec):
    """A measured tree."""

    source: str
    """Which tree it is."""
    bytes: PositiveInt
    """Of all files."""
    sizes: tuple[SizeClassSpec, ...]
    """Classes of sizes, rising."""
    directories: tuple[PositiveInt, ...]
    """How many there are at each depth; the root is depth 0."""
    largest_directory: PositiveInt
    """Files in the directory with most of them."""

    @property
    def files(self) -> int:
        """Number of files."""
        return sum(each.files for each in self.sizes)


@lru_cache(maxsize=1)
def measured_tree() -> TreeShape:
    """The shape of the tree as it was measured."""
    return load_spec(TreeShape, _FILE)


@lru_cache(maxsize=4)
def linux_2_6_13(files: int | None = None, size: int | None = None, root: str = "linux-2.6.13") -> Tree:
    """The tree of Linux 2.6.13.

    Parameters
    ----------
    files
        How many; 18,090 unless given. Directories are in proportion.
    size
        Bytes in all; unless given, the measured mean for each file. Every size is scaled alike.
    root
        Path of the topmost directory.
    """
    shape = measured_tree()
    wanted = shape.files if files is None else files
    if wanted < 1:
        raise InputError("files of the tree", str(wanted), "expected: at least 1")
    size = round(shape.bytes * wanted / shape.files) if size is None else size
    if size < 1:
        raise InputError("bytes of the tree", str(size), "expected: at least 1")
    count = apportioned([each.files for each in shape.sizes], wanted)
    means = [Fraction(each.bytes, each.files) for each in shape.sizes]
    factor = size / sum((mean * number for mean, number in zip(means, count, strict=True)), Fraction(0))
    shares = apportioned([mean * number for mean, number in zip(means, count, strict=True)], size)
    classes = [
        SizeClass(int(each.low * factor), -int(-each.high * factor // 1), number, share)
        for each, number, share in zip(shape.sizes, count, shares, strict=True)
    ]
    largest = min(wanted, max(1, round(shape.largest_directory * wanted / shape.files)))
    return Tree.from_histogram(classes, _depths(shape, wanted), largest, root)


def apportioned(weights: Sequence[int | Fraction], total: int) -> list[int]:
    """`total` divided in proportion to `weights`, each share rounded down or up (by largest remainders)."""
    whole = sum(weights, Fraction(0))
    exact = [weight * total / whole for weight in weights]
    shares = [int(each) for each in exact]
    order = sorted(range(len(shares)), key=lambda index: (shares[index] - exact[index], index))
    for index in order[: total - sum(shares)]:
        shares[index] += 1
    return shares


def _depths(shape: TreeShape, files: int) -> dict[int, int]:
    """Directories at each depth, in proportion to the files; no depth is empty above one that is not."""
    measured = shape.directories
    below = max(0, round(sum(measured) * files / shape.files) - 1)
    depths = apportioned(measured[1:], below)
    for depth, number in enumerate(depths):
        if not number and any(depths[depth:]):
            depths[depths.index(max(depths))] -= 1
            depths[depth] = 1
    return {0: 1, **{depth: number for depth, number in enumerate(depths, 1) if number}}
