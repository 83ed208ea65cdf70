"""Real NBD clients, where they are installed: libnbd, qemu and fio."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from raidsim.model.core.request import WRITE
from raidsim.serve import protocol as nbd
from raidsim.tests.processes import PATIENCE_S
from raidsim.tests.serve.client import FLASH, Client, served


def needs(program: str) -> pytest.MarkDecorator:
    """Skip a test where a program is not installed."""
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def run(*command: str, folder: Path | None = None) -> str:
    """What a program that runs in `folder` prints; it must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs("nbdinfo")
def test_libnbd_reads_the_export(tmp_path: Path) -> None:
    """Protects the handshake, as libnbd has it: size and flags, and the list of exports."""
    with served(tmp_path, FLASH) as server:
        (export,) = json.loads(run("nbdinfo", "--json", server.address))["exports"]
        assert (export["export-name"], export["export-size"]) == ("md0", server.capacity)
        assert all(export[f"can_{what}"] for what in ("flush", "fua", "trim", "multi_conn"))
        assert "md0" in run("nbdinfo", "--list", server.address)


@needs("nbdcopy")
def test_libnbd_copies_an_image(tmp_path: Path) -> None:
    """Protects the data over several connections: an image that was copied to the server is read back from it."""
    image = tmp_path / "image.img"
    image.write_bytes(random.Random(6).randbytes(8 << 20))
    with served(tmp_path, FLASH) as server:
        run("nbdcopy", "--connections=4", str(image), server.address)
        with Client(server.options.unix or tmp_path) as client:
            assert client.export.flags & nbd.CAN_MULTI_CONN
            assert client.read(0, 8 << 20) == image.read_bytes()


@needs("qemu-io")
def test_qemu_verifies_what_it_wrote(tmp_path: Path) -> None:
    """Protects qemu guests: writes with FUA, flushes, discards and reads that are verified."""
    with served(tmp_path, FLASH) as server:
        steps = (
            "write -P 7 64k 1M",
            "write -f -P 9 0 4k",
            "flush",
            "discard 4M 1M",
            "read -P 7 64k 1M",
            "read -P 9 0 4k",
        )
        out = run("qemu-io", "-f", "raw", *(word for step in steps for word in ("-c", step)), server.address)
        assert "failed" not in out


@needs("fio")
def test_fio_verifies_what_it_wrote(tmp_path: Path) -> None:
    """Protects the data under load: fio's nbd engine writes 32 deep and verifies every block."""
    if "nbd" not in run("fio", "--enghelp"):
        pytest.skip("this fio has no nbd engine")
    with served(tmp_path, FLASH) as server:
        options = ("--rw=randwrite", "--bs=4k", "--iodepth=32", "--size=4m", "--verify=crc32c", "--fsync=64")
        run("fio", "--name=a", "--ioengine=nbd", f"--uri={server.address}", *options, folder=tmp_path)


@needs("nbdsh")
def test_nbdsh_writes_reads_and_is_refused(tmp_path: Path) -> None:
    """Protects scripts of libnbd: what it writes it reads, and what is outside the array is its error."""
    script = """
h.pwrite(b"x" * 4096, 8192)
h.flush()
assert h.pread(4096, 8192) == b"x" * 4096
assert h.get_structured_replies_negotiated()
try:
    h.set_strict_mode(0)
    h.pread(4096, h.get_size())
except nbd.Error as error:
    print(error.errno)
"""
    with served(tmp_path) as server:
        # The python3 that it is installed for is Debian's, which need not be the first in the PATH.
        assert run("env", "PATH=/usr/bin:/bin", "nbdsh", "-u", server.address, "-c", script).strip() == "EINVAL"


@needs("qemu-img")
def test_qemu_converts_an_image(tmp_path: Path) -> None:
    """Protects imports: qemu-img copies an image to the server, and compares it with what is there."""
    image = tmp_path / "image.img"
    image.write_bytes(random.Random(7).randbytes(4 << 20))
    with served(tmp_path, data=tmp_path / "data.img", text=FLASH) as server:
        run("qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", str(image), server.address)
    with (tmp_path / "data.img").open("rb") as data:
        assert data.read(4 << 20) == image.read_bytes()


@needs("fio")
def test_a_killed_client_leaves_a_server_that_serves(tmp_path: Path) -> None:
    """Protects other clients: fio is killed with requests in flight, and the next client finds whole blocks."""
    options = ("--rw=randwrite", "--bs=4k", "--iodepth=32", "--size=64m", "--buffer_pattern=0x5a", "--thread")
    with served(tmp_path, FLASH) as server:
        command = ["fio", "--name=a", "--ioengine=nbd", f"--uri={server.address}", "--time_based", "--runtime=60"]
        fio = subprocess.Popen([*command, *options], cwd=tmp_path, stdout=subprocess.DEVNULL)
        try:
            for _ in range(2000):
                if server.counts.latencies[WRITE].count > 100:
                    break
                time.sleep(0.01)
        finally:
            fio.kill()
            fio.wait(20)
        with Client(server.options.unix or tmp_path) as client:
            data = client.read(0, 4 << 20)
        written = data.count(0x5A)
        assert written > 0
        assert written + data.count(0) == len(data)
        blocks = (data[at : at + 4096] for at in range(0, len(data), 4096))
        assert {bytes(block) for block in blocks} <= {bytes(4096), b"\x5a" * 4096}
