"""A pool of several vdevs, their kinds by name, and labels."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError, ModelError
from raidsim.model.zfs.map.draid import Draid
from raidsim.model.zfs.map.kinds import vdevs_for
from raidsim.model.zfs.map.labels import FRONT_SECTORS, data_bytes, uberblocks
from raidsim.model.zfs.map.pool import PoolMap
from raidsim.model.zfs.map.raidz import Raidz


def test_members_are_numbered_through_the_pool() -> None:
    """The second vdev's members follow the first one's, for lost ones too."""
    pool = PoolMap([*vdevs_for("raidz1", 3, 12), *vdevs_for("mirror", 2, 12)], ["normal", "special"])
    assert pool.members == 5
    assert pool.leaves(1) == [3, 4]
    assert pool.of_role("special") == [1]
    assert pool.reads(1, 0, 4096)[0].member == 3
    assert pool.reads(1, 0, 4096, frozenset([0, 3]))[0].member == 4
    assert {piece.member for piece in pool.scrubs(0, 0, 131072, frozenset([1, 4]))} == {0, 2}
    with pytest.raises(ModelError):
        PoolMap(vdevs_for("stripe", 2, 12), ["normal"])


def test_small_blocks_go_to_special_vdevs() -> None:
    """Up to the dataset's limit, and only if the pool has such vdevs."""
    vdevs = [*vdevs_for("mirror", 2, 12), *vdevs_for("mirror", 2, 12)]
    special = PoolMap(vdevs, ["normal", "special"])
    assert [special.role(size, 32768) for size in (4096, 32768, 33792)] == ["special", "special", "normal"]
    assert special.role(4096, 0) == "normal"
    assert PoolMap(vdevs).role(4096, 32768) == "normal"


def test_kinds_by_name() -> None:
    """The words of zpool create, with the defaults of dRAID: parity 1, up to 8 data columns, no spare."""
    assert len(vdevs_for("stripe", 3, 12)) == 3
    (raidz,) = vdevs_for("raidz3", 8, 12)
    assert isinstance(raidz, Raidz)
    assert raidz.parity == 3
    for words, members, shape in (
        ("draid2:4d:8c:1s", 8, (2, 4, 1)),
        ("draid", 14, (1, 8, 0)),
        ("draid3:1s", 9, (3, 5, 1)),
        ("draid1:8c:3d", 8, (1, 3, 0)),
    ):
        (draid,) = vdevs_for(words, members, 12)
        assert isinstance(draid, Draid)
        assert (draid.parity, draid.data, draid.spares) == shape


@pytest.mark.parametrize(
    ("kind", "members", "said"),
    [
        ("raid5", 3, "unknown kind 'raid5'"),
        ("mirror", 1, "mirror with 1 members"),
        ("raidz2", 2, "raidz2 with 2 members"),
        ("draid2:4d:8c:1s", 9, "says 8 members, found 9"),
        ("draid2:8d", 9, r"8 \+ 2 columns"),
        ("draid4", 9, "draid4"),
        ("draid2:0d", 9, r"has 0"),
    ],
)
def test_wrong_kinds(kind: str, members: int, said: str) -> None:
    """What zpool refuses is refused, with what was found."""
    with pytest.raises(InputError, match=said):
        vdevs_for(kind, members, 12)


def test_uberblocks_go_round_their_rings() -> None:
    """Four slots of 4 KiB with ashift 12, 32 transaction groups a round; two in front of the data, two behind."""
    size = 639 << 20
    first = uberblocks(0, size, 12)
    assert [sectors for _, sectors in first] == [8] * 4
    assert first[0][0] == 256 - FRONT_SECTORS
    assert first[1][0] - first[0][0] == 512
    assert first[2][0] * 512 > data_bytes(size)
    assert uberblocks(32, size, 12) == first
    assert [sector - 8 for sector, _ in uberblocks(1, size, 12)] == [sector for sector, _ in first]
    assert uberblocks(0, size, 9)[0][1] == 2
