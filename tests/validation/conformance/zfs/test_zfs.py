"""Recorded pools of ZFS against the map and the intent log; a map that is wrong in any of its rules is noticed."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.zfs.arc.prefetch import Prefetch
from raidsim.model.zfs.intent_log.block_sizes import BlockSizes
from raidsim.model.zfs.intent_log.log import LogBlock
from raidsim.model.zfs.map import raidz
from raidsim.model.zfs.map.draid import Draid
from raidsim.model.zfs.map.mirror import Mirror
from raidsim.model.zfs.map.pool import PoolMap
from raidsim.model.zfs.map.raidz import Raidz
from raidsim.model.zfs.map.vdev import Piece
from raidsim.model.zfs.scan import trim
from raidsim.validation.conformance.base import KindResult, NotSupported, TruthFile
from raidsim.validation.conformance.known_misses import explain, stale
from raidsim.validation.conformance.truth_files import DEFAULT_TRUTH, load_truth, read_truth
from raidsim.validation.conformance.zfs.operations import operation, touched
from raidsim.validation.conformance.zfs.pieces import Owned, PieceIndex
from raidsim.validation.conformance.zfs.recording import Phase, Recording
from raidsim.validation.conformance.zfs.zfs import check

POOLS = DEFAULT_TRUTH / "zfs"
AIM = 0.95


def pool(name: str) -> TruthFile:
    """A recorded pool."""
    return read_truth(POOLS / f"{name}.json.gz")[1]


def result_of(*names: str) -> KindResult:
    """What the check finds in these pools."""
    return check([pool(name) for name in names], lambda _: None)


def test_recorded_pools_agree() -> None:
    """All but the known misses: sizes, cold and degraded reads, writes, synchronous writes and scrubs."""
    result = check(load_truth().by_kind["zfs"], lambda _: None)
    assert result.cases > 270
    assert result.matched >= result.cases * AIM
    explain(result)
    assert [miss.case for miss in result.misses if not miss.why] == []
    assert stale([result]) == []


def _shifted(right: Any) -> Any:
    return lambda vdev, *block: [each._replace(member=(each.member + 1) % vdev.members) for each in right(vdev, *block)]


def _longer(right: Any) -> Any:
    return lambda vdev, offset, psize, *lost: right(vdev, offset, psize + 4096, *lost)


@pytest.mark.parametrize(
    ("name", "part", "field", "wrong", "least"),
    [
        ("raidz2_n4", Raidz, "_columns", _shifted, 35),
        ("raidz1_n3", raidz, "SWAP", lambda _: 0, 10),
        ("raidz1_n3", Raidz, "_padding", lambda _: lambda *_: [], 8),
        ("e_draid2_n8_128k", Draid, "_member", lambda _: lambda vdev, turn, place: place + turn, 3),
        ("mirror_n3", Mirror, "side", lambda _: lambda *_: 0, 15),
        ("raidz2_n4", Raidz, "reads", lambda _: Raidz.scrubs, 15),
        ("raidz1_n4_slog", BlockSizes, "predicted", lambda _: lambda sizes: sizes.room, 3),
        ("raidz1_n3", LogBlock, "written", lambda _: lambda block, _: block.used, 3),
        ("raidz1_n3", Raidz, "scrubs", _longer, 2),
        ("raidz1_n3", Raidz, "trims", _shifted, 1),
        ("raidz1_n3", trim, "FRONT_SECTORS", lambda right: 2 * right, 1),
        ("raidz1_n4_special", PoolMap, "role", lambda _: lambda *_: "normal", 1),
        ("raidz1_n3", Prefetch, "run", lambda _: lambda *_: (0, 0), 2),
    ],
    ids=[
        "shift",
        "swap",
        "padding",
        "order",
        "side",
        "parity read",
        "prediction",
        "short log",
        "scrub",
        "trim",
        "trim of the next metaslab",
        "special",
        "prefetch",
    ],
)
def test_a_wrong_rule_is_noticed(
    monkeypatch: pytest.MonkeyPatch, name: str, part: Any, field: str, wrong: Any, least: int
) -> None:
    """Each rule decides cases; a shift by one member does, which no footprint of all writes shows."""
    monkeypatch.setattr(part, field, wrong(getattr(part, field)))
    assert len(result_of(name).misses) >= least + (name in ("mirror_n3", "raidz1_n4_slog"))


def test_requests_are_made_of_whole_pieces() -> None:
    """A request begins and ends with a piece, and takes small gaps along."""
    index = PieceIndex(Owned(Piece(0, sector, 8, "data"), sector) for sector in (0, 8, 40))
    assert [owned.block for owned in index.exactly(0, 0, 16)] == [0, 8]
    assert [owned.block for owned in index.exactly(0, 0, 48)] == [0, 8, 40]
    assert index.exactly(0, 0, 48, gap=0) == []
    assert index.exactly(0, 0, 12) == []
    assert index.exactly(0, 4, 12) == []
    assert index.exactly(1, 0, 8) == []
    assert [owned.block for owned in index.within(0, 4, 6)] == [0, 8]


@pytest.mark.parametrize(
    ("op", "calls"),
    [
        ("read r128/a 4096 2", [(0, 4096), (4096, 4096)]),
        ("back r128/a 4096 2", [(61440, 4096), (57344, 4096)]),
        ("stride r128/a 4096 16384 2", [(0, 4096), (16384, 4096)]),
        ("streams r128/a 4096 2 2", [(0, 4096), (32768, 4096), (4096, 4096), (36864, 4096)]),
        ("rand r128/a 4096 2 r 31", [(8192, 4096), (0, 4096)]),
    ],
)
def test_operations(op: str, calls: list[tuple[int, int]]) -> None:
    """The notation of what a phase did."""
    done = operation(Phase("x", "read", op, [8192, 0], []), 65536)
    assert done is not None
    assert done.calls == calls
    assert not done.writes


def test_synchronous_operations() -> None:
    """O_DSYNC, sync=always and fsync commit; sync=disabled does not."""
    phases = {
        "rand r128/a 4096 1 d 1": (True, True),
        "rand r128/a 4096 1 w 1 (sync=always)": (True, True),
        "rand r128/a 4096 1 d 1 (sync=disabled)": (False, False),
        "write r128/a 4096 1 p fsync": (False, True),
        "append r128/a 4096 1": (True, True),
    }
    for op, expected in phases.items():
        done = operation(Phase("x", "sync", op, [0], []), 65536)
        assert done is not None
        assert (done.synchronous, done.commits) == expected
    assert operation(Phase("x", "special", "6 files of one write of 4096", [], []), 0) is None
    assert touched([(100, 8192)], 4096) == {0, 4096, 8192}


def test_a_resilver_of_what_was_written_meanwhile() -> None:
    """Counter-test: if nothing was written while a member was away, the recorded resilver reads too much."""
    file = pool("raidz1_n3")
    phases = []
    for phase in file.content["phases"]:
        away = phase.get("phase") == "degr_ow128k_r128.sync"
        moved = (
            [[us, member, rwbs, sector + 2**20, count] for us, member, rwbs, sector, count in phase["requests"]]
            if away
            else []
        )
        phases.append({**phase, "requests": moved} if away else phase)
    result = check([TruthFile(file.path, dict(file.content) | {"phases": phases})], lambda _: None)
    assert "online.sync" in [miss.case for miss in result.misses]


@pytest.mark.parametrize("dropped", [{"read_random", "overwrite", "rmw"}, {"prefetch", "map_write", "read_seq"}])
def test_a_part_of_a_recording_is_enough(dropped: set[str]) -> None:
    """Phases of some kinds may be left out: what they moved or cached does not count as a miss."""
    file = pool("raidz2_n4")
    phases = [phase for phase in file.content["phases"] if phase.get("kind") not in dropped]
    result = check([TruthFile(file.path, dict(file.content) | {"phases": phases})], lambda _: None)
    assert result.cases > 20
    assert result.misses == []


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    """A pool without its command, and a file that is not compressed."""
    content = dict(pool("e_stripe_n2_128k").content) | {"create": "zpool import tank"}
    with pytest.raises(NotSupported, match="zpool import tank"):
        Recording("x", content)
    broken = tmp_path / "x.json.gz"
    broken.write_bytes(gzip.compress(b"{}" * 100)[:20])
    with pytest.raises(InputError, match="cannot be uncompressed"):
        read_truth(broken)
