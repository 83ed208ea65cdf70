"""What the time of an I/O is spent on: the causes of waits, and the services.

Each part of the machine marks the end of what it does (:mod:`.trail`). A wait has the name of the part or the step that
the I/O waits for.
"""

from __future__ import annotations

from typing import Final

CPU: Final = 0
TAG: Final = 1
THROTTLE: Final = 2
SCHEDULER: Final = 3
DRIVE_QUEUE: Final = 4
DRIVE_CACHE: Final = 5
ELECTRONICS: Final = 6
SEEK: Final = 7
ROTATION: Final = 8
TRANSFER: Final = 9
FLASH: Final = 10
LINK: Final = 11
FLUSH: Final = 12
SUPERBLOCK: Final = 13
BITMAP: Final = 14
BARRIER: Final = 15
ARRAY_LOCK: Final = 16
STRIPE_HEAD: Final = 17
STRIPE: Final = 18
GATHERING: Final = 19
PARITY_TURN: Final = 20
PREREAD: Final = 21
MEMBER_READS: Final = 22
MD_THREAD: Final = 23
JOURNAL: Final = 24
FREE_BUFFER: Final = 25
CONTROLLER_QUEUE: Final = 26
CONTROLLER: Final = 27
CONTROLLER_CACHE: Final = 28
CIPHER: Final = 29
NETWORK_SLOT: Final = 30
NETWORK: Final = 31
PAGE_CACHE: Final = 32
POOL_READ: Final = 33
DIRTY_DATA: Final = 34
INTENT_LOG: Final = 35
CACHED_BLOCK: Final = 36
CACHE_METADATA: Final = 37

CAUSES: Final = (
    "CPU",
    "free tag",
    "write-back throttling",
    "I/O scheduler",
    "drive queue",
    "drive cache",
    "drive electronics",
    "seek",
    "rotational latency",
    "media transfer",
    "flash",
    "link",
    "flush",
    "superblock write",
    "write-intent bitmap",
    "resync barrier",
    "array lock",
    "stripe head",
    "earlier write of the stripe",
    "gathering of a stripe",
    "turn of the parity reads",
    "reads before writes",
    "reads of the members",
    "md thread",
    "journal",
    "free buffer",
    "controller queue",
    "controller processor",
    "controller cache",
    "encryption",
    "place at the server",
    "network",
    "page cache",
    "reads of the pool",
    "dirty data of the pool",
    "intent log",
    "cached block",
    "metadata of a cache",
)
"""The causes in words, by number; the glossary says what each is."""
