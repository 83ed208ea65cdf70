"""What the ARC of a pool holds when a run begins: pointers to blocks, and what loads leave in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ..arc.buffers import INDIRECT, KEY_SHIFT
from ..arc.cache import Arc
from ..arc.second_level import SecondLevel
from ..arc.visits import RandomVisits, SequentialVisits, VisitedFile
from ..records.metadata import POINTERS
from .dataset import Dataset

METADATA_PART: Final = 4
"""The ARC's part for metadata at the beginning."""


def keep_pointers(arc: Arc, datasets: Iterable[Dataset]) -> None:
    """Have pointers to blocks in memory, evenly over all blocks of each volume or file, as far as there is room."""
    room = int(arc.target) // METADATA_PART
    for dataset in datasets:
        if not dataset.caches_pointers:
            continue
        psize, count = int(dataset.indirect.psize), -(-int(dataset.blocks) // POINTERS)
        fitting = min(count, max(0, room // psize))
        for number in range(fitting):
            arc.add(dataset.base + INDIRECT + number * count // fitting, psize, True, dataset.now)
        room -= fitting * psize


def settle_loads(
    arc: Arc,
    datasets: Mapping[str, Dataset],
    random: Mapping[str, Sequence[RandomVisits]],
    sequential: Mapping[str, Sequence[SequentialVisits]],
    second: SecondLevel | None = None,
) -> None:
    """Let the ARC hold what loads on volumes and files, by their names, leave in it in the long run."""
    files = [
        VisitedFile(
            int(dataset.base) >> KEY_SHIFT,
            int(dataset.blocks),
            dataset.block_bytes,
            dataset.psize,
            random.get(name, ()),
            sequential.get(name, ()),
            second is not None and second.takes(int(dataset.base)),
        )
        for name, dataset in datasets.items()
        if dataset.caches_data and (name in random or name in sequential)
    ]
    if files:
        from ..arc.miniature import settle

        settle(arc, files, second)
