"""What is measured: a block device, or a file on one; and what is refused because it would be wrong or do harm."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...model.core.errors import InputError
from ...model.files.quantities import format_size
from .machine import Kernel

LEAST_SIZE = 16 << 20
"""Below that every job would be served by the drive's buffer."""
NEW_FILE_SIZE = 1 << 30
"""Of a file that is made, unless a size is given."""

_ALIGNMENT = 4096
_SPARE = 64 << 20
"""What is left free beside a new file."""
_PIECE = 1 << 20
_FEWEST_BLOCKS = 0.95
"""A file with a smaller share of its bytes on the disk has holes."""
_STAT_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Target:
    """What the jobs read.

    Attributes
    ----------
    path
        Without symbolic links.
    kind
        A block device, or a regular file.
    size
        Bytes from its beginning that are used.
    number
        Major and minor number of the device, or of the file's device.
    exists
        Whether a file is there already.
    """

    path: Path
    kind: Literal["device", "file"]
    size: int
    number: tuple[int, int]
    exists: bool = True


def find_target(name: str, size: int | None, writes: bool, kernel: Kernel) -> Target:
    """What is to be measured, if it can be.

    Parameters
    ----------
    name
        A device, a file, or the name of a file that is to be made.
    size
        Bytes to use; all of it unless given.
    writes
        Whether jobs will write to it.
    kernel
        Says what is mounted.

    Raises
    ------
    InputError
        If it is missing, a folder, too small, in use, or not allowed.
    """
    path = Path(name).resolve()
    if size is not None and size < LEAST_SIZE:
        raise InputError("--size", format_size(size), f"expected: {format_size(LEAST_SIZE)} or more")
    try:
        found = path.stat()
    except FileNotFoundError:
        return _new_file(name, path, size or NEW_FILE_SIZE)
    except PermissionError:
        raise _no_permission(name, "looked at") from None
    except OSError as error:
        raise InputError(
            name, f"cannot be looked at ({error.strerror})", "expected: a block device or a file"
        ) from None
    if stat.S_ISDIR(found.st_mode):
        raise InputError(name, "a folder", "expected: a block device, or a file (it is made if it does not exist)")
    if not stat.S_ISBLK(found.st_mode) and not stat.S_ISREG(found.st_mode):
        raise InputError(name, "neither a block device nor a regular file", "expected: one of the two")
    device = stat.S_ISBLK(found.st_mode)
    number = found.st_rdev if device else found.st_dev
    target = Target(path, "device" if device else "file", 0, (os.major(number), os.minor(number)))
    if device and writes:
        check_unused(name, target.number, kernel)
    return Target(path, target.kind, _usable(name, path, size, writes, device), target.number)


def _usable(name: str, path: Path, size: int | None, writes: bool, device: bool) -> int:
    """Bytes to use of what is there, which has to let itself be opened."""
    try:
        handle = os.open(path, (os.O_RDWR if writes else os.O_RDONLY) | (os.O_EXCL if device and writes else 0))
    except PermissionError:
        raise _no_permission(name, "written" if writes else "read") from None
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise _in_use(name, "in use by the kernel") from None
        raise InputError(name, f"cannot be opened ({error.strerror})", "expected: what can be read") from None
    try:
        whole = os.lseek(handle, 0, os.SEEK_END)
        stored = os.fstat(handle).st_blocks * _STAT_BLOCK
    finally:
        os.close(handle)
    used = (whole if size is None else size) // _ALIGNMENT * _ALIGNMENT
    if whole < LEAST_SIZE:
        found = f"it has {format_size(whole)}"
        raise InputError(name, found, f"expected: {format_size(LEAST_SIZE)} or more, or a file that does not exist yet")
    if used > whole:
        raise InputError("--size", f"{format_size(used)} of {name}", f"expected: up to its {format_size(whole)}")
    if not device and stored < _FEWEST_BLOCKS * whole:
        found = f"only {format_size(stored)} of its {format_size(whole)} are on the disk"
        raise InputError(name, found, "expected: a file without holes, or one that does not exist yet")
    return used


def _new_file(name: str, path: Path, size: int) -> Target:
    if Path("/dev") in path.parents:
        raise InputError(name, "no such device", "expected: a block device (lsblk lists them), or a file elsewhere")
    folder = path.parent
    if not folder.is_dir():
        raise InputError(name, "neither it nor its folder is there", "expected: a block device, or a file in a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _no_permission(name, "made")
    size = size // _ALIGNMENT * _ALIGNMENT
    space = os.statvfs(folder)
    free = space.f_bavail * space.f_frsize
    if size + _SPARE > free:
        found = f"a file of {format_size(size)} where {format_size(free)} are free"
        raise InputError("--size", found, f"expected: {format_size(_SPARE)} less than what is free")
    number = folder.stat().st_dev
    return Target(path, "file", size, (os.major(number), os.minor(number)), exists=False)


def check_unused(name: str, number: tuple[int, int], kernel: Kernel) -> None:
    """Refuse to write to a device that is mounted or swapped to, has such a part, or is part of something."""
    block = kernel.block(number)
    if block is None:
        raise InputError(name, "the kernel does not say what uses it", "allowed with --allow-write: a disk in /sys")
    disk = block.parent if (block / "partition").exists() else block
    related = {block, *(each.parent for each in block.glob("*/partition"))}
    for holding in (*related, disk):
        holders = sorted(each.name for each in (holding / "holders").glob("*"))
        if holders:
            raise _in_use(name, f"{holding.name} is part of {', '.join(holders)}")
    names = {each.name for each in (*related, disk)}
    numbers = {(each / "dev").read_text().strip() for each in (*related, disk) if (each / "dev").exists()}
    for mount in kernel.mounts():
        source = Path(mount.source).resolve().name if mount.source.startswith("/") else ""
        if f"{mount.number[0]}:{mount.number[1]}" in numbers or source in names:
            raise _in_use(name, f"mounted at {mount.point}")
    for swap in kernel.swaps():
        if Path(swap).resolve().name in names:
            raise _in_use(name, "used as swap")


def _in_use(name: str, found: str) -> InputError:
    return InputError(name, found, "allowed with --allow-write: a device that nothing uses")


def _no_permission(name: str, done: str) -> InputError:
    return InputError(
        name, f"no permission: it cannot be {done}", "expected: what this user may open (perhaps as root)"
    )


def make_file(target: Target, progress: Callable[[int, int], None]) -> None:
    """Make a file of random bytes, written through to the disk; an interrupted one is removed.

    Raises
    ------
    InputError
        If it is there by now, or cannot be written.
    """
    name = str(target.path)
    try:
        handle = os.open(target.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InputError(
            name, f"cannot be made ({error.strerror})", "expected: a file that does not exist yet"
        ) from None
    try:
        with os.fdopen(handle, "wb") as file:
            for done in range(0, target.size, _PIECE):
                file.write(os.urandom(min(_PIECE, target.size - done)))
                progress(done, target.size)
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        target.path.unlink()
        if isinstance(error, OSError):
            raise InputError(name, f"cannot be written ({error.strerror})", "expected: a disk with room") from None
        raise
    progress(target.size, target.size)


def takes_direct(path: Path) -> bool:
    """Whether a file or device can be read past the page cache (O_DIRECT)."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
    except OSError as error:
        if error.errno == errno.EINVAL:
            return False
        raise InputError(str(path), f"cannot be opened ({error.strerror})", "expected: what can be read") from None
    return True
