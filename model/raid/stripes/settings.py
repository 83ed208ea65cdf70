"""How the driver of RAID 4, 5 and 6 works: what differs between kernels.

A kernel's section ``raid5`` is one of these, and an array takes it with what its own options change.
"""

from __future__ import annotations

from ...files.description import Duration, PositiveSize, Spec
from .write_plan import RmwLevel


class ParitySettings(Spec):
    """How the driver of a parity array works.

    The defaults are Linux 2.6.8's. Linux 6.1 is ``ParitySettings(most_heads=..., hold=None, direct_reads=True)``.
    """

    heads: int = 256
    """Stripe heads (``stripe_cache_size``); 0 for as many as needed."""
    head: PositiveSize = 4096
    """Height of a stripe head."""
    hold: Duration | None = 0.003
    """How long an incomplete row waits for its neighbors before it is read up (Linux 2.4 and early 2.6: until the queue
    is unplugged). None for a driver whose thread takes the heads as they are when it runs, and lets incomplete rows
    that nobody waits for wait only while others are being read up (Linux 6.1)."""
    shared_plug: bool = False
    """Whether the array's plug is on a list that everybody runs (tq_disk of Linux 2.4): a process that waits for stripe
    heads, and md's thread whenever it has done something, submits incomplete rows and the members' requests."""
    copies_reads: bool = True
    """Whether a read through the stripe cache is copied out of it (Linux 2.6 does, 2.4 reads into the caller's
    page)."""
    rmw_level: int = RmwLevel.IF_CHEAPER
    """md's setting of that name (1 on kernels that have none)."""
    direct_reads: bool = False
    """Whether reads of a whole array go to the members, one request per chunk, past the stripe cache (since 2.6.20:
    raid5.c, chunk_aligned_read)."""
    most_heads: int = 0
    """How far the stripe cache grows, one head in every pass of md's thread that somebody waits in; what memory allows
    (since 4.1: raid5.c, grow_one_stripe). No more than `heads` for a cache that stays as it is."""
    workers: int = 0
    """Threads that handle stripes instead of md's own (``group_thread_cnt``, since 3.12); 0 for none. An array's own
    option, as `discards` is."""
    locks_rows: bool = False
    """Whether a row that is being read or written takes no other block
    (:mod:`raidsim.model.raid.parity_until_4_0.row_locks`)."""
    waiting_readers: bool = False
    """If true, a reader that finds no free stripe head blocks inside submit, and blocked readers share freed heads
    (:mod:`raidsim.model.raid.parity_until_4_0.waiting_readers`); otherwise requests get theirs in the order they
    came."""
    gathers_per_head: bool = False
    """Whether writes gather in a row though they leave holes between them in a chunk, as every head of the row gathers
    for itself; otherwise a non-contiguous write flushes the row first."""
    lowest_first: bool = False
    """If true, the heads of an I/O that begins in the middle of a chunk and goes on in the next member of the row are
    taken from the beginning of that chunk on, and those of the first chunk last (since 6.0: raid5.c,
    raid5_bio_lowest_chunk_sector). If false, in the order of the offsets."""
    discards: bool = False
    """Whether discards are passed on (the module's ``devices_handle_discard_safely``, since 3.7)."""
