"""The outputs of this machine: files of /proc, and programs that only read, each with a limit of time.

Nothing is written: programs that write a log are told not to, and run in an empty folder that is removed.
Many of them need root; what could not be read is said.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .inspection import Source
from .tools.outputs import MOST_CHARACTERS

PATIENCE_S = 15.0
"""What a program may take."""
_MOST_DISKS = 256
_LSBLK = ("-J", "-b", "-o", "NAME,KNAME,TYPE,SIZE,ROTA,TRAN,VENDOR,MODEL,MAJ:MIN,RM")
_STORCLI = ("storcli64", "storcli", "perccli64", "perccli")
_ZPOOL = (
    ("zpool_status", "status", "-L"),
    ("zpool_list", "list", "-v", "-L"),
    ("zfs_get", "get", "ashift,fragmentation,autotrim"),
)
"""The kind of output, and what zpool is told."""
_ZFS_PROPERTIES = (
    *("name", "used", "available", "referenced", "volsize", "recordsize", "volblocksize", "compressratio"),
    *("sync", "logbias", "primarycache", "atime"),
)
_ZFS_LIST = ("list", "-t", "filesystem,volume", "-o", ",".join(_ZFS_PROPERTIES))
_LVS_COLUMNS = "devices,segtype,seg_size,stripe_size,chunk_size,cache_mode,cache_policy,kernel_cache_settings"
_LVS = ("-a", "--units", "b", "--reportformat", "json", "-o", f"+{_LVS_COLUMNS},vg_extent_size")
_BCACHE = (
    "cache_mode",
    "sequential_cutoff",
    "dirty_data",
    "state",
    "writeback_percent",
    "backing_dev_name",
    "bucket_size",
)
"""Files of a folder "bcache" below /sys/block."""
_MEGACLI = ("MegaCli64", "MegaCli", "megacli")
_FOLDERS = ("/opt/MegaRAID/storcli", "/opt/MegaRAID/perccli", "/opt/MegaRAID/MegaCli", "/usr/sbin", "/sbin")
_ARRAY = re.compile(r"^(md\S*)\s*: active", re.MULTILINE)
_DISK = re.compile(r'"kname"\s*:\s*"([a-z]+)",\s*"type"\s*:\s*"disk"')
_TURN = ("hd", "sd")


class Said(NamedTuple):
    """What a program printed, or why it did not.

    Attributes
    ----------
    text
        Its output; "" if there is none.
    trouble
        "" if all went well.
    """

    text: str
    trouble: str = ""


def run_program(command: tuple[str, ...], patience_s: float = PATIENCE_S) -> Said:
    """Run a program that reads, in an empty folder, and end it if it takes too long.

    Parameters
    ----------
    command
        The program's path and its arguments.
    patience_s
        Seconds that it may take.
    """
    with tempfile.TemporaryDirectory(prefix="raidsim-") as folder:
        try:
            process = subprocess.Popen(  # nosec B603 # programs that this module names, found in PATH
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env={**os.environ, "LC_ALL": "C"},
                start_new_session=True,
            )
        except OSError as error:
            return Said("", error.strerror or type(error).__name__)
        try:
            out, complaint = process.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Said("", f"no answer within {patience_s:g} s")
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
    text = out[:MOST_CHARACTERS].decode("utf-8", "replace")
    words = complaint.decode("utf-8", "replace").strip().splitlines()
    if text.strip():
        return Said(text)
    return Said("", words[-1] if words else f"nothing printed, status {process.returncode}")


def find_program(*names: str) -> str | None:
    """The path of the first of some programs that is installed, on the PATH or where administrators' tools are."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *_FOLDERS))
    return next((found for name in names if (found := shutil.which(name, path=path)) is not None), None)


@dataclass(slots=True)
class ThisMachine:
    """Collects what this machine says of itself.

    Attributes
    ----------
    proc
        Where the kernel's files are.
    block
        Where its files of block devices are.
    find, run
        Look for a program, and run one.
    release
        The kernel's release.
    notes
        What could not be read.
    """

    proc: Path = Path("/proc")
    find: Callable[..., str | None] = find_program
    run: Callable[[tuple[str, ...]], Said] = run_program
    release: str = field(default_factory=lambda: f"{platform.system()} {platform.release()}")
    notes: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    block: Path = Path("/sys/block")

    def collect(self, progress: Callable[[str], None]) -> list[Source]:
        """Every output that was available.

        Parameters
        ----------
        progress
            Takes the name of what is asked just now.
        """
        self._add("uname", f"{self.release}\n", "uname")
        mdstat = self._file("mdstat")
        self._file("cpuinfo")
        self._file("meminfo")
        for array in _ARRAY.findall(mdstat):
            self._program(progress, "mdadm", ("mdadm",), ("--detail", f"/dev/{array}"), f"mdadm --detail {array}")
        blocks = self._program(progress, "lsblk", ("lsblk",), _LSBLK, "lsblk")
        for disk in self._disks(blocks)[:_MOST_DISKS]:
            arguments = ("-j", "-i", "-g", "wcache", f"/dev/{disk}")
            self._program(progress, "smartctl", ("smartctl",), arguments, f"smartctl {disk}")
        self._volumes(progress)
        self._pools(progress)
        self._controllers(progress)
        return self.sources

    def _add(self, name: str, text: str, kind: str) -> None:
        self.sources.append(Source(name, text, kind))

    def _file(self, name: str) -> str:
        """A file of /proc."""
        path = self.proc / name
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            self.notes.append(f"{path}: {error.strerror or type(error).__name__}")
            return ""
        arrays = name != "mdstat" or bool(re.search(r"^md\S*\s*:", text, re.MULTILINE))
        if text.strip() and arrays:
            self._add(str(path), text, path.name)
        return text

    def _program(
        self,
        progress: Callable[[str], None],
        kind: str,
        names: tuple[str, ...],
        arguments: tuple[str, ...],
        called: str,
        optional: bool = False,
    ) -> str:
        """What a program says; a note if it is not installed or says nothing."""
        path = self.find(*names)
        if path is None:
            note = f"{kind} is not installed; what it would tell is missing"
            if not optional and note not in self.notes:
                self.notes.append(note)
            return ""
        progress(called)
        said = self.run((path, *arguments))
        if said.trouble:
            self.notes.append(f"{called}: {said.trouble}")
        else:
            self._add(called, said.text, kind)
        return said.text

    def _disks(self, blocks: str) -> list[str]:
        """Disks that smartctl can ask."""
        return [name for name in dict.fromkeys(_DISK.findall(blocks)) if name.startswith(_TURN)]

    def _volumes(self, progress: Callable[[str], None]) -> None:
        """The device mapper's devices and LVM's volumes, where there are any, and bcache's settings."""
        dmsetup = self.find("dmsetup")
        if dmsetup is not None and ": 0 " in self.run((dmsetup, "table")).text:
            for what in ("ls", "table", "status"):
                self._program(progress, "dmsetup", ("dmsetup",), (what,), f"dmsetup {what}")
            if self.find("lvs") is not None:
                self._program(progress, "lvs", ("lvs",), _LVS, "lvs")
        lines = [
            f"/sys/block/{path.parent.parent.name}/bcache/{path.name}:{path.read_text(encoding='utf-8').strip()}\n"
            for name in _BCACHE
            for path in sorted(self.block.glob(f"*/bcache/{name}"))
        ]
        if lines:
            self._add("/sys/block", "".join(lines), "sysfs")

    def _pools(self, progress: Callable[[str], None]) -> None:
        """Pools of ZFS by the kernel's names of their devices, and what is on them."""
        zpool = self.find("zpool")
        if zpool is None or "pool:" not in self.run((zpool, "status")).text:
            return
        for kind, *arguments in _ZPOOL:
            self._program(progress, kind, ("zpool",), tuple(arguments), f"zpool {' '.join(arguments)}")
        self._program(progress, "zfs_list", ("zfs",), _ZFS_LIST, "zfs list")
        self._file("spl/kstat/zfs/arcstats")

    def _controllers(self, progress: Callable[[str], None]) -> None:
        """StorCLI or PercCLI; MegaCli only where there is neither."""
        if self.find(*_STORCLI) is not None:
            for of in ("/call", "/call/vall", "/call/eall/sall"):
                command = (of, "show", "all", "J", "nolog")
                self._program(progress, "storcli", _STORCLI, command, f"storcli {of} show all")
            return
        for what in (("-AdpAllInfo",), ("-LDInfo", "-Lall"), ("-PDList",), ("-AdpBbuCmd", "-GetBbuStatus")):
            command = (*what, "-aAll", "-NoLog")
            self._program(progress, "megacli", _MEGACLI, command, f"megacli {what[0]}", optional=True)
