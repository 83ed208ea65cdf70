"""The steps of a workload of programs as data, one class a program.

Every process of the workload runs the same steps on files of its own; a step begins when all have ended the one before,
unless they are said not to wait for each other.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from ...model.files.description import PositiveSize, Spec, refusal

_KIB = 1 << 10
_MIB = 1 << 20
_LEAST_IOZONE = 64 * _KIB


def _whole_mebibytes(value: int) -> int:
    if value < _MIB:
        raise refusal(f"{value} bytes", "expected: 1MiB or more; the program counts whole ones")
    return value


Mebibytes = Annotated[PositiveSize, AfterValidator(_whole_mebibytes)]
"""Bytes, of which a program counts whole units of 2^20."""


def _whole_kibibytes(value: int) -> int:
    if value % _KIB:
        raise refusal(f"{value} bytes", "expected: whole KiB; the program takes no others")
    return value


Kibibytes = Annotated[PositiveSize, AfterValidator(_whole_kibibytes)]
"""Bytes, in whole units of 2^10."""


def _plain_name(value: str) -> str:
    if not value or "/" in value:
        raise refusal(f"{value!r}", "expected: a name without /; every process works in the topmost directory")
    return value


FileName = Annotated[str, AfterValidator(_plain_name)]
"""A file of a step."""


class TreeSpec(Spec):
    """A source tree: a number of files with a total size, in the size distribution of Linux 2.6.13."""

    files: int = Field(default=18090, ge=1, le=10_000_000)
    bytes: PositiveSize = 204_866_517
    """The defaults are those of Linux 2.6.13 as published."""


class _Step(Spec):
    """What all steps have."""

    name: str | None = None
    """What its figures are called by; the program unless given."""
    on: str | None = None
    """Mount point; the only one unless given."""
    program: str
    """Which program it is."""

    @property
    def title(self) -> str:
        """What its figures are called by."""
        return self.name or self.program


class BonnieStep(_Step):
    """Bonnie."""

    program: Literal["bonnie"]

    version: Literal["1.2", "1.4"] = "1.4"
    """"1.2" moves 16 KiB at a time, "1.4" 1 MiB."""
    size: Mebibytes
    files: int = Field(default=1, ge=1, le=1000)
    """Of each file (``-s``), and how many (``-v``)."""
    sync: bool = False
    """``-y``."""


class BonniePlusPlusStep(_Step):
    """bonnie++."""

    program: Literal["bonnie++"]

    version: Literal["1.03", "1.9"] = "1.03"
    """Which one: they print and seek differently."""
    size: Mebibytes | None = None
    """``-s``; twice the memory, at least 300 MiB, unless given."""
    small_files: int = Field(default=16, ge=0, le=1000)
    """``-n``: thousands (1,024) of files."""


class PostMarkStep(_Step):
    """PostMark 1.5; the names are those of its ``set`` command."""

    means_as: ClassVar[str] = "raidsim.model.programs.postmark:PostMarkSettings"

    program: Literal["postmark"]
    number: int = Field(default=500, ge=1)
    transactions: int = Field(default=500, ge=10)
    low: PositiveSize = 500
    high: PositiveSize = 10000
    read_block: PositiveSize = 512
    write_block: PositiveSize = 512
    buffering: bool = True
    bias_read: int = Field(default=5, ge=-1, le=10)
    bias_create: int = Field(default=5, ge=-1, le=10)
    subdirectories: int = Field(default=0, ge=0)
    seed: int = Field(default=42, ge=1)


class WriteFileStep(_Step):
    """``dd if=/dev/zero of=FILE``: every process writes a file of its own."""

    program: Literal["dd"]

    file: FileName = "zero"
    """Name, by which a later step reads it."""
    size: PositiveSize
    """Bytes written."""
    block_size: PositiveSize = 1 << 20
    """Bytes of a write(2)."""
    conv: Literal["fsync", "fdatasync"] | None = None
    """"fsync" or "fdatasync": once, at the end."""
    oflag: Literal["sync", "dsync"] | None = None
    """"sync" or "dsync": after each block."""


class ReadFileStep(_Step):
    """``cp FILE /dev/null``, ``cat FILE`` or ``dd if=FILE``: every process reads a file of its own."""

    program: Literal["read"]

    file: FileName = "zero"
    """Written by an earlier step, or there before the run."""
    size: PositiveSize
    """Bytes read."""
    block_size: PositiveSize = 4096
    """Bytes of a read(2)."""
    shared: bool = False
    """Whether all processes read the same file, which was there before."""


class CopyFileStep(_Step):
    """``cp FILE .``: every process writes a copy of one file."""

    program: Literal["cp"]

    file: FileName = "linux.tar"
    """Its name, there and afterwards."""
    source: str | None = None
    """Mount point where it was before the run; unless given, a device that is not modeled, whose page cache holds
    it."""
    size: PositiveSize
    """Bytes of the file."""
    block_size: PositiveSize = 4096
    """Bytes of a read(2) and a write(2)."""


class ExtractStep(_Step):
    """``tar -xf``: a tree is made from an archive."""

    program: Literal["tar-x"]

    archive: FileName | None = None
    """Name of a file that an earlier step has written; one that the page cache holds unless given."""
    tree: TreeSpec = TreeSpec()
    """What is in it."""


class CopyTreeStep(_Step):
    """``cp -rf TREE COPY``, of the tree that an earlier step has made, or that was there before the run."""

    program: Literal["cp-r"]

    tree: TreeSpec = TreeSpec()
    """What is copied."""
    block_size: PositiveSize = 4096
    """Bytes of a read(2) and a write(2)."""


class ArchiveStep(_Step):
    """``tar c TREE > /dev/null``, of the tree that an earlier step has made, or that was there before the run."""

    program: Literal["tar-c"]

    tree: TreeSpec = TreeSpec()
    """What is read."""


class TarPipeStep(_Step):
    """``(cd SOURCE; tar c .) | (cd ON; tar x)``."""

    program: Literal["tar-pipe"]

    source: str
    """Mount point whose tree was there before the run."""
    tree: TreeSpec = TreeSpec()
    """What is moved."""


class TiobenchStep(_Step):
    """tiobench: a number of threads with a file each write and read it in order and at random."""

    program: Literal["tiobench"]

    threads: int = Field(default=1, ge=1, le=1024)
    """How many."""
    size: Mebibytes
    """Of all files together."""
    block_size: PositiveSize = 4096
    """Bytes of a read or write."""
    random_ios: int = Field(default=4000, ge=1)
    """Of all threads together."""


class IozoneStep(_Step):
    """iozone: a file in records, in every order (``-i 0`` to ``-i 7``); no sync is timed."""

    program: Literal["iozone"]

    size: Kibibytes
    """``-s``, whole records."""
    record: Kibibytes = 4096
    """``-r``."""

    @model_validator(mode="after")
    def _whole_records(self) -> Self:
        if self.size < _LEAST_IOZONE:
            raise refusal(f"{self.size} bytes", "expected: 64KiB or more", ("size",))
        if self.record > self.size:
            raise refusal(f"{self.record} bytes in a file of {self.size}", "expected: at most the file", ("record",))
        if self.size % self.record:
            raise refusal(f"{self.size} bytes", f"expected: whole records of {self.record} bytes", ("size",))
        return self


class DropCacheStep(_Step):
    """The file system is unmounted and mounted again (or the machine started anew): nothing is cached."""

    program: Literal["remount"]


Step = (
    BonnieStep
    | BonniePlusPlusStep
    | PostMarkStep
    | WriteFileStep
    | ReadFileStep
    | CopyFileStep
    | ExtractStep
    | CopyTreeStep
    | ArchiveStep
    | TarPipeStep
    | TiobenchStep
    | IozoneStep
    | DropCacheStep
)
"""Any step."""

_PROGRAMS = {
    "bonnie": BonnieStep,
    "bonnie++": BonniePlusPlusStep,
    "postmark": PostMarkStep,
    "dd": WriteFileStep,
    "read": ReadFileStep,
    "cp": CopyFileStep,
    "tar-x": ExtractStep,
    "cp-r": CopyTreeStep,
    "tar-c": ArchiveStep,
    "tar-pipe": TarPipeStep,
    "tiobench": TiobenchStep,
    "iozone": IozoneStep,
    "remount": DropCacheStep,
}


def _program(value: Any) -> str:
    return str(value.get("program") if isinstance(value, dict) else getattr(value, "program", None))


def _known_program(value: Any) -> Any:
    if _program(value) not in _PROGRAMS:
        raise refusal(f"unknown program {_program(value)!r}", f"expected: {', '.join(_PROGRAMS)}", ("program",))
    return value


AnyStep = Annotated[
    Annotated[BonnieStep, Tag("bonnie")]
    | Annotated[BonniePlusPlusStep, Tag("bonnie++")]
    | Annotated[PostMarkStep, Tag("postmark")]
    | Annotated[WriteFileStep, Tag("dd")]
    | Annotated[ReadFileStep, Tag("read")]
    | Annotated[CopyFileStep, Tag("cp")]
    | Annotated[ExtractStep, Tag("tar-x")]
    | Annotated[CopyTreeStep, Tag("cp-r")]
    | Annotated[ArchiveStep, Tag("tar-c")]
    | Annotated[TarPipeStep, Tag("tar-pipe")]
    | Annotated[TiobenchStep, Tag("tiobench")]
    | Annotated[IozoneStep, Tag("iozone")]
    | Annotated[DropCacheStep, Tag("remount")],
    Discriminator(_program),
    BeforeValidator(_known_program),
]
"""Any step, told apart by its program."""
