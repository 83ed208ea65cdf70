"""Metadata that a transaction group writes besides the records: what points to them, and the pool's own.

The numbers of blocks are recorded ones (OpenZFS 2.3.2, seven pools): a group without dirty data writes 60 to 72 blocks
of 4 KiB with all copies, one with a dirty file 70 to 78 plus its indirect blocks.
"""

from __future__ import annotations

from typing import Final

METADATA_BYTES: Final = 4096
"""Physical size of the small metadata blocks: they are compressed into one allocation unit."""
METADATA_COPIES: Final = 2
"""Copies of a dataset's metadata (redundant_metadata=all)."""
DATASET_STEPS: Final = (2, 2, 1)
"""Blocks of a dirty dataset besides indirect blocks, one step after the other: dnodes, what points to them, the object
set."""
POOL_COPIES: Final = 3
POOL_STEPS: Final = (4, 3, 3, 3, 3, 3)
"""Blocks of the meta object set, one step after the other: what points to a block waits for it, and what one pass
allocates is recorded in the next."""

POINTER_SHIFT: Final = 10
POINTERS: Final = 1 << POINTER_SHIFT
"""Pointers of an indirect block of 128 KiB."""
_POINTER_BYTES: Final = 64
"""Compressed bytes of one; recorded: 8 sectors of 4 KiB for 512 pointers."""


def indirect_psize(pointers: int, unit: int = 4096) -> int:
    """Physical size (bytes) of an indirect block with `pointers` pointers."""
    return max(unit, -(-pointers * _POINTER_BYTES // unit) * unit)
