"""dd, cat and cp on a single large file.

dd moves blocks of ``bs=`` and, where it reads, ends with a read of nothing. cat and cp of GNU coreutils 5.2.1 take
``st_blksize`` of the file system, 4096 on ext2 and ext3 and for /dev/null (copy.c, cat.c). cp of FreeBSD 6.2 maps files
of up to 8 MiB and writes them in one call; larger ones it moves in blocks of MAXBSIZE, 64 KiB (bin/cp/utils.c). None of
them syncs, except dd if it is told to.

Programs that read and write in turn do so block by block. Here their calls are gathered into runs, first the reads of a
run, then its writes, so that a run of equal calls is one operation; the pages come in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator

from .operation import Kind, Operation, transfer

ST_BLKSIZE = 4096
"""Block of cat and cp of GNU coreutils 5.2.1."""
FREEBSD_MAXBSIZE = 64 * 1024
"""Block of cp of FreeBSD 6.2 for files above 8 MiB."""
RUN_BYTES = 128 * 1024
"""Bytes whose calls are gathered, unless a block is larger."""

_ZERO, _NULL = "/dev/zero", "/dev/null"
_CREATE = "O_WRONLY|O_CREAT|O_TRUNC"


_CONV = {"fsync": Kind.FSYNC, "fdatasync": Kind.FDATASYNC}
_OFLAG = {"sync": Kind.FSYNC, "dsync": Kind.FDATASYNC}
"""O_SYNC and O_DSYNC do after each write what fsync and fdatasync do (open(2))."""


def dd_write(
    file: str, size: int, block: int, fsync: bool = False, conv: str | None = None, oflag: str | None = None
) -> Iterator[Operation]:
    """``dd if=/dev/zero of=FILE bs=BLOCK``, ended by ``count=``, with ``conv=`` and ``oflag=`` if given.

    `fsync` is the same as `conv` of that name.
    """
    yield Operation(Kind.OPEN, _ZERO, flags="O_RDONLY")
    yield Operation(Kind.OPEN, file, flags=_CREATE)
    if oflag is None:
        yield from _moved(_ZERO, file, size, block)
    else:
        for start in range(0, size, block):
            part = min(block, size - start)
            yield transfer(Kind.READ, _ZERO, start, part, block)
            yield transfer(Kind.WRITE, file, start, part, block)
            yield Operation(_OFLAG[oflag], file)
    if fsync or conv is not None:
        yield Operation(_CONV[conv or "fsync"], file)
    yield Operation(Kind.CLOSE, _ZERO)
    yield Operation(Kind.CLOSE, file)


def dd_read(file: str, size: int, block: int) -> Iterator[Operation]:
    """``dd if=FILE of=/dev/null bs=BLOCK``, up to the end of the file."""
    yield from _copied(file, _NULL, size, block, _CREATE)


def cat(file: str, size: int, block: int = ST_BLKSIZE) -> Iterator[Operation]:
    """``cat FILE > /dev/null``; the shell has opened what it writes to."""
    yield Operation(Kind.OPEN, file, flags="O_RDONLY")
    yield from _moved(file, _NULL, size, block)
    yield Operation(Kind.READ, file, size, 0, block)
    yield Operation(Kind.CLOSE, file)


def cp_file(source: str, target: str, size: int, block: int = ST_BLKSIZE) -> Iterator[Operation]:
    """``cp SOURCE TARGET``; a target that is a device is opened to be overwritten."""
    yield from _copied(source, target, size, block, "O_WRONLY|O_TRUNC" if target == _NULL else "O_WRONLY|O_CREAT")


def _copied(source: str, target: str, size: int, block: int, flags: str) -> Iterator[Operation]:
    yield Operation(Kind.OPEN, source, flags="O_RDONLY")
    yield Operation(Kind.OPEN, target, flags=flags)
    yield from _moved(source, target, size, block)
    yield Operation(Kind.READ, source, size, 0, block)
    yield Operation(Kind.CLOSE, source)
    yield Operation(Kind.CLOSE, target)


def _moved(source: str, target: str, size: int, block: int) -> Iterator[Operation]:
    run = max(1, RUN_BYTES // block) * block
    for start in range(0, size, run):
        part = min(run, size - start)
        yield transfer(Kind.READ, source, start, part, block)
        yield transfer(Kind.WRITE, target, start, part, block)
