"""What tar and ``cp -r`` do with a tree of files.

tar moves its archive in records and a file as far as the record in memory goes, so the boundaries of the calls on files
follow the archive's records (GNU tar 1.34, extract.c and create.c). cp of 2005 moves blocks of ``st_blksize`` and
ends each file with a read of nothing (coreutils 5.2.1, copy.c); cp of today lets the kernel copy (coreutils 9.1). None
of them syncs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Final, Literal, NamedTuple

from .operation import Kind, Operation, transfer

TAR_BLOCK = 512
TAR_RECORD = 20 * TAR_BLOCK
_END_BLOCKS = 2
_LISTED = "O_RDONLY|O_NONBLOCK|O_DIRECTORY"
NOWHERE = "/dev/null"

# Looked up once: a member of an enumeration takes as long to find as all else that is done for a small file.
_READ: Final = Kind.READ
_WRITE: Final = Kind.WRITE
_OPEN: Final = Kind.OPEN
_CLOSE: Final = Kind.CLOSE
_STAT: Final = Kind.STAT
_ATTRIBUTES: Final = (Kind.SET_TIMES, Kind.SET_OWNER, Kind.SET_MODE)


class TreeFile(NamedTuple):
    """A file of a tree: its path and its bytes."""

    path: str
    size: int


class SizeClass(NamedTuple):
    """A class of a histogram: files of at least `low` and less than `high` bytes, how many, and all their bytes."""

    low: int
    high: int
    files: int
    bytes: int


class Tree:
    """Directories and files, in the order in which they are archived.

    Parameters
    ----------
    entries
        For each directory its path and its files; once more for those files that come after a subdirectory.
    """

    __slots__ = ("_hashed", "entries")

    def __init__(self, entries: tuple[tuple[str, tuple[TreeFile, ...]], ...]) -> None:
        self.entries = entries
        self._hashed: Tree | None = None  # made when it is asked for, and then for all processes that list it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self.entries == other.entries

    def __hash__(self) -> int:
        return hash(self.entries)

    @property
    def directories(self) -> int:
        """Number of directories, the root included."""
        return len({path for path, _ in self.entries})

    def files(self) -> Iterator[TreeFile]:
        """All files."""
        for _, files in self.entries:
            yield from files

    @classmethod
    def from_histogram(
        cls, classes: Sequence[SizeClass], depths: Mapping[int, int], largest_directory: int, root: str = "tree"
    ) -> Tree:
        """A tree with as many files and bytes in each class of sizes, and directories at each depth, as are given.

        Within a class the sizes are spread evenly between the ends of as wide a range as has the right mean. One
        directory has `largest_directory` entries; the others have as many files as each other, of all sizes.
        """
        sizes = [size for each in classes for size in _spread(each)]
        count = len(sizes)
        step = _coprime_step(count)
        mixed = [sizes[index * step % count] for index in range(count)]
        paths = _directories(depths, root)
        inside = Counter(path.rpartition("/")[0] for path in paths)
        largest = next(path for path in reversed(paths) if not inside[path])
        in_others = count - largest_directory
        given = place = 0
        entries = []
        for path in paths:
            if path == largest:
                mine = largest_directory if len(paths) > 1 else count
            else:
                place += 1
                mine = in_others * place // (len(paths) - 1) - in_others * (place - 1) // (len(paths) - 1)
            files = (TreeFile(f"{path}/f{index:04}", size) for index, size in enumerate(mixed[given : given + mine]))
            entries.append((path, tuple(files)))
            given += mine
        return cls(tuple(entries))

    def moved(self, to: str) -> Tree:
        """The same tree below the directory `to`."""
        return Tree(
            tuple(
                (f"{to}/{path}", tuple(TreeFile(f"{to}/{file.path}", file.size) for file in files))
                for path, files in self.entries
            )
        )

    def hashed(self) -> Tree:
        """The same tree in the order of a hash of the names: files in no order, subdirectories between them."""
        if self._hashed is None:
            self._hashed = Tree(self._in_order_of_hash())
        return self._hashed

    def _in_order_of_hash(self) -> tuple[tuple[str, tuple[TreeFile, ...]], ...]:
        inside: dict[str, list[str | TreeFile]] = {path: [] for path, _ in self.entries}
        for path, files in self.entries:
            inside[path] += files
        for path in inside:
            above = path.rpartition("/")[0]
            if above in inside:
                inside[above].append(path)
        entries: list[tuple[str, tuple[TreeFile, ...]]] = []

        def walk(directory: str) -> None:
            run: list[TreeFile] = []
            begun = False
            for each in sorted(inside[directory], key=_hash):
                if isinstance(each, TreeFile):
                    run.append(each)
                    continue
                if run or not begun:
                    entries.append((directory, tuple(run)))
                    run, begun = [], True
                walk(each)
            if run or not begun:
                entries.append((directory, tuple(run)))

        walk(self.entries[0][0])
        return tuple(entries)

    def most_entries(self) -> int:
        """Files and directories in the largest directory."""
        inside = Counter(path.rpartition("/")[0] for path in {path for path, _ in self.entries})
        for path, files in self.entries:
            inside[path] += len(files)
        return max(inside.values())


def _hash(entry: str | TreeFile) -> bytes:
    path = entry.path if isinstance(entry, TreeFile) else entry
    return blake2b(path.encode(), digest_size=8).digest()


def archive_bytes(entries: int, padded_bytes: int) -> int:
    """Size of a tar archive: a header for each of `entries`, their data in blocks of 512 bytes, end, whole records."""
    size = (entries + _END_BLOCKS) * TAR_BLOCK + padded_bytes
    return -(-size // TAR_RECORD) * TAR_RECORD


def expected_writes(files: int, entries: int, padded_bytes: int) -> tuple[float, float]:
    """Mean and standard deviation of the writes of ``tar -x`` where only totals are known.

    A file is written in one call, and one more for each record boundary inside its data. A boundary may as well lie
    before a header or before the first block of a file's data; which it is, depends on the order of the files.
    """
    blocks = archive_bytes(entries, padded_bytes) // TAR_BLOCK
    boundaries = blocks * TAR_BLOCK // TAR_RECORD - 1
    inside = 1.0 - (entries + files + _END_BLOCKS) / blocks
    return files + boundaries * inside, (boundaries * inside * (1.0 - inside)) ** 0.5


def copy_calls(files: int, blocks: int) -> tuple[int, int]:
    """Reads and writes of ``cp -r`` of 2005 for a number of files that fill a number of blocks."""
    return blocks + files, blocks


class _Piece:
    """What comes next in an archive; a record begins before the first piece in it."""

    __slots__ = ("offset", "path", "size", "what")

    def __init__(
        self,
        what: Literal["record", "directory", "file", "data", "end of file"],
        path: str = "",
        offset: int = 0,
        size: int = 0,
    ) -> None:
        self.what = what
        self.path = path
        self.offset = offset
        self.size = size


def _archive(tree: Tree) -> Iterator[_Piece]:
    """An archive from its first record to its last: headers, data in parts that end with their records, the end."""
    at = end = 0
    record = _Piece("record")
    begun: set[str] = set()
    for directory, files in tree.entries:
        if directory not in begun:
            begun.add(directory)
            if at == end:
                end += TAR_RECORD
                yield record
            at += TAR_BLOCK
            yield _Piece("directory", directory)
        for file in files:
            if at == end:
                end += TAR_RECORD
                yield record
            at += TAR_BLOCK
            yield _Piece("file", file.path)
            done = 0
            while done < file.size:
                if at == end:
                    end += TAR_RECORD
                    yield record
                part = min(file.size - done, end - at)
                yield _Piece("data", file.path, done, part)
                done += part
                at += -(-part // TAR_BLOCK) * TAR_BLOCK
            yield _Piece("end of file", file.path)
    for _ in range(end, archive_bytes(0, at), TAR_RECORD):
        yield record


def tar_extract(tree: Tree, archive: str = "tree.tar", pipe: bool = False, opened: bool = True) -> Iterator[Operation]:
    """``tar -xf ARCHIVE``: from a file, or from a pipe of that name; one that is not `opened` it opens and closes."""
    read = 0
    if not opened:
        yield Operation(_OPEN, archive, flags="O_RDONLY")
    for piece in _archive(tree):
        what, path = piece.what, piece.path
        if what == "record":
            yield Operation(Kind.HEAR if pipe else _READ, archive, read, TAR_RECORD, TAR_RECORD)
            read += TAR_RECORD
        elif what == "directory":
            yield Operation(Kind.MKDIR, path)
        elif what == "file":
            yield Operation(_OPEN, path, flags="O_WRONLY|O_CREAT|O_EXCL")
        elif what == "data":
            yield Operation(_WRITE, path, piece.offset, piece.size, piece.size)
        else:
            for kind in _ATTRIBUTES:
                yield Operation(kind, path)
            yield Operation(_CLOSE, path)
    if not opened:
        yield Operation(_CLOSE, archive)


def tar_create(tree: Tree, archive: str = "tree.tar", pipe: bool = False) -> Iterator[Operation]:
    """``tar -cf ARCHIVE TREE``: to a file, or to a pipe of that name.

    A record is written when the next one begins. Where the archive is /dev/null GNU tar opens no file of the tree: it
    only looks up their sizes. To read them, a pipe is put between (``tar -cf - TREE | cat > /dev/null``).
    """
    to_file = not pipe and archive != NOWHERE
    reads = pipe or to_file
    begun = 0

    def written(number: int) -> Operation:
        return Operation(Kind.TELL if pipe else Kind.WRITE, archive, (number - 1) * TAR_RECORD, TAR_RECORD, TAR_RECORD)

    if not pipe:
        yield Operation(Kind.OPEN, archive, flags="O_WRONLY|O_CREAT|O_TRUNC")
    for piece in _archive(tree):
        what, path = piece.what, piece.path
        if what == "record":
            if begun:
                yield written(begun)
            begun += 1
        elif what == "directory":
            yield Operation(_STAT, path)
            yield Operation(_OPEN, path, flags=_LISTED)
            yield Operation(Kind.LIST, path, calls=2)
            yield Operation(_CLOSE, path)
        elif what == "file":
            yield Operation(_STAT, path)
            if reads:
                yield Operation(_OPEN, path, flags="O_RDONLY")
        elif not reads:
            continue
        elif what == "data":
            yield Operation(_READ, path, piece.offset, piece.size, piece.size)
        else:
            yield Operation(_CLOSE, path)
    yield written(begun)
    if not pipe:
        yield Operation(Kind.CLOSE, archive)


def copy(tree: Tree, block: int = 4096, to: str = "copy") -> Iterator[Operation]:
    """``cp -r`` of 2005, in blocks of `block` bytes (``st_blksize``)."""
    for source, target, file in _copied(tree, to):
        if file is None:
            yield Operation(Kind.MKDIR, target)
            yield Operation(Kind.LIST, source, calls=2)
            continue
        yield Operation(_OPEN, source, flags="O_RDONLY")
        yield Operation(_OPEN, target, flags="O_WRONLY|O_CREAT")
        if file.size:
            yield transfer(_READ, source, 0, file.size, block)
            yield transfer(_WRITE, target, 0, file.size, block)
        yield Operation(_READ, source, file.size, 0, block)
        yield Operation(_CLOSE, target)
        yield Operation(_CLOSE, source)


def copy_in_kernel(tree: Tree, to: str = "copy") -> Iterator[Operation]:
    """``cp -r`` of today: for each file one copy_file_range that moves it and one that finds its end."""
    for source, target, file in _copied(tree, to):
        if file is None:
            yield Operation(Kind.MKDIR, target)
            yield Operation(Kind.LIST, source, calls=2)
            continue
        yield Operation(Kind.OPEN, source, flags="O_RDONLY")
        yield Operation(Kind.OPEN, target, flags="O_WRONLY|O_CREAT|O_EXCL")
        if file.size:
            yield Operation(Kind.COPY_RANGE, source, 0, file.size, file.size)
        yield Operation(Kind.COPY_RANGE, source, file.size)
        yield Operation(Kind.CLOSE, target)
        yield Operation(Kind.CLOSE, source)


def _copied(tree: Tree, to: str) -> Iterator[tuple[str, str, TreeFile | None]]:
    begun: set[str] = set()
    for directory, files in tree.entries:
        if directory not in begun:
            begun.add(directory)
            yield directory, f"{to}/{directory}", None
        for file in files:
            yield file.path, f"{to}/{file.path}", file


def _spread(each: SizeClass) -> list[int]:
    """Sizes of a class: `files` of them, `bytes` in all."""
    if not each.files:
        return []
    mean = each.bytes / each.files
    reach = max(0.0, min(mean - each.low, each.high - 1 - mean))
    sizes = []
    given = 0
    for index in range(each.files):
        share = (index + 1) / each.files
        # The sum of the first sizes of an evenly rising row, whose rounding errors therefore do not add up.
        total = round(each.files * (share * (mean - reach) + share * share * reach))
        sizes.append(total - given)
        given = total
    return sizes


def _directories(depths: Mapping[int, int], root: str) -> list[str]:
    """Paths of directories, as many at each depth as are given, spread evenly over those one level above."""
    levels = [[root]]
    for depth in range(1, max(depths) + 1):
        above = levels[-1]
        levels.append([f"{above[index % len(above)]}/d{index:04}" for index in range(depths.get(depth, 0))])
    return sorted(path for level in levels for path in level)


def _coprime_step(count: int) -> int:
    """About the golden section of `count`, and without a common divisor: such steps visit all, evenly."""
    step = max(1, int(count * 0.6180339887))
    while math.gcd(step, count) != 1:
        step += 1
    return step


def size_classes(histogram: Mapping[str, Mapping[str, int]]) -> list[SizeClass]:
    """Classes from a histogram whose keys are intervals ("[128,512)", the last up to "inf")."""
    classes = []
    for interval, content in histogram.items():
        low, high = interval.strip("[)").split(",")
        top = 1 << 62 if high == "inf" else int(high)
        classes.append(SizeClass(int(low), top, content["files"], content["bytes"]))
    return classes
