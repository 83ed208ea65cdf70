"""Rooms: one new file is enough for each kind of thing that is found by its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from raidsim.tests.manual_pages import checkout_with, raidsim_command, run_python

SCHEDULER = '''\
"""Whatever came last."""

from .noop import Noop


class LastIn(Noop):
    """Last come, first served."""

    __slots__ = ()
    name = "last-in"

    def next(self, now):
        """The newest request."""
        return self._take(self._queue.pop()) if self._queue else None
'''
READ_AHEAD = '''\
"""One page more."""

from .base import PAGE, ReadAhead


class OnePage(ReadAhead):
    """Reads a page at a time."""

    __slots__ = ()
    name = "one-page"

    def touch(self, position, call_end=0):
        """See :meth:`ReadAhead.touch`."""
        start = position - position % PAGE
        return start, min(self._end, start + PAGE)

    def next_trigger(self, position):
        """See :meth:`ReadAhead.next_trigger`."""
        return self._end
'''
KERNEL = """\
as: linux-6.1
version: "6.1 of mine"
read_ahead:
  policy: one-page
  source: made up
"""
LAYOUT = '''\
"""The first member comes last."""

from typing import ClassVar

from .striped import StripedLayout


class BackwardLayout(StripedLayout):
    """Chunks from the last member to the first."""

    __slots__ = ()
    algorithms: ClassVar = {"raid0": ("backward",)}
'''
BALANCE = '''\
"""The copy at the end."""

from .base import ReadBalance


class Hindmost(ReadBalance):
    """Reads the last copy."""

    __slots__ = ()
    name = "hindmost"

    def choose(self, request, candidates, offsets=None):
        """The last."""
        return candidates[-1]
'''
FORMAT = '''\
"""Lines of "@moment offset" of reads of 4 KiB, in seconds and bytes."""

from . import fields
from .format import Format, each_line, lines_fit


def _record(source, line):
    time, offset = line[1:].split()
    moment = fields.time_ns(source, time, "moment", fields.SECOND_NS)
    return moment, fields.direction(source, b"R", "op"), int(offset), 4096, "disk"


PLAIN = Format("plain", "Lines of reads", lines_fit(r"@[0-9]+ [0-9]+"), each_line(_record))
'''
PROGRAM = '''\
"""A program that writes a file and looks at nothing."""

from typing import Literal

from .step import CopyingStep, Job, no_figures


class ScribbleStep(CopyingStep):
    """Writes a mebibyte."""

    program: Literal["scribble"]

    def data_bytes(self, memory_bytes):
        """See :meth:`Step.data_bytes`."""
        return 1 << 20

    def job(self, setting):
        """See :meth:`Step.job`."""
        from ...model.programs.file_io import dd_write

        return Job(dd_write("mine", 1 << 20, 4096), file_bytes=1 << 20), no_figures
'''
ON_FILES = """\
name: mine
machine: {memory: 1GiB, drives: {model: WD-Red-Plus-8TB, count: 1}}
file_systems: {/data: {kind: ext4, on: disk0}}
workload: {kind: programs, steps: [{program: scribble}]}
"""
RUN = ("run", "home-nas", "--no-relief", "--set", "duration=50ms", "--set", "warm_up=10ms", "--set")


class Kind(NamedTuple):
    """One kind: the files that a newcomer writes, the name, a command that uses it, and one with a wrong name."""

    files: dict[str, str]
    name: str
    used: tuple[str, ...]
    refused: tuple[str, ...]
    in_schema: bool = True


FILE_SYSTEM = Path(__file__).parent.parent / "model" / "file_system" / "catalogue" / "ext4.yaml"
KINDS = {
    "scheduler": Kind(
        {"model/schedulers/last_in.py": SCHEDULER},
        "last-in",
        (*RUN, "machine.drives.scheduler=last-in"),
        (*RUN, "machine.drives.scheduler=nosuch"),
    ),
    "read-ahead": Kind(
        {"model/readahead/one_page.py": READ_AHEAD, "model/kernels/catalogue/mine.yaml": KERNEL},
        "one-page",
        (*RUN, "kernel=mine"),
        (*RUN, "kernel=wrong"),
        in_schema=False,
    ),
    "layout": Kind(
        {"model/layouts/backward.py": LAYOUT},
        "backward",
        (*RUN, "layout=raid0", "--set", "arrays.md0.bitmap=null", "--set", "arrays.md0.algorithm=backward"),
        (*RUN, "layout=raid0", "--set", "arrays.md0.bitmap=null", "--set", "arrays.md0.algorithm=nosuch"),
        in_schema=False,
    ),
    "balance": Kind(
        {"model/raid/read_balance/hindmost.py": BALANCE},
        "hindmost",
        (*RUN, "arrays.md0.level=raid1", "--set", "arrays.md0.chunk=null", "--set", "arrays.md0.balance=hindmost"),
        (*RUN, "arrays.md0.level=raid1", "--set", "arrays.md0.chunk=null", "--set", "arrays.md0.balance=nosuch"),
    ),
    "trace format": Kind(
        {"scenarios/traces/formats/plain.py": FORMAT, "some.trace": "@1 0\n@2 8192\n"},
        "plain",
        ("trace", "info", "some.trace"),
        ("trace", "info", "some.trace", "--format", "nosuch"),
        in_schema=False,
    ),
    "program": Kind(
        {"scenarios/programs/scribble.py": PROGRAM, "mine.yaml": ON_FILES},
        "scribble",
        ("run", "mine.yaml", "--no-relief"),
        ("run", "mine.yaml", "--set", "workload.steps.0.program=nosuch"),
    ),
    "file system": Kind(
        {"model/file_system/catalogue/newfs.yaml": FILE_SYSTEM.read_text(encoding="utf-8")},
        "newfs",
        ("scenario", "catalan-2005", "--resolved", "--set", "file_systems./raid.kind=newfs"),
        ("scenario", "catalan-2005", "--set", "file_systems./raid.kind=nosuch"),
    ),
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with all of these files, and a kernel whose read-ahead nobody has."""
    files = {path: text for kind in KINDS.values() for path, text in kind.files.items()}
    wrong = {"model/kernels/catalogue/wrong.yaml": KERNEL.replace("one-page", "nosuch")}
    return checkout_with(tmp_path_factory.mktemp("rooms"), files | wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_one_file_is_enough(kind: str, checkout: Path) -> None:
    """Protects newcomers: what the file defines can be used, and the command succeeds."""
    done = raidsim_command(checkout, *KINDS[kind].used)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_nobody_registered_is_refused(kind: str, checkout: Path) -> None:
    """Protects from a silent default: status 2, and a list of names with the new one in it."""
    done = raidsim_command(checkout, *KINDS[kind].refused)
    assert done.returncode == 2
    assert "nosuch" in done.stderr
    assert KINDS[kind].name in done.stderr


def test_the_schema_lists_what_a_scenario_may_name(checkout: Path) -> None:
    """Protects editors: the new names are among those that they offer."""
    script = "import json, raidsim.scenarios.documents.schema as s; print(json.dumps(s.document_schema()))"
    schema = json.dumps(json.loads(run_python(checkout, "-c", script).stdout))
    assert all(f'"{kind.name}"' in schema for kind in KINDS.values() if kind.in_schema)
