"""Sheets of machines with SSD caches, of our own making, in the form in which the tools print them."""

from __future__ import annotations

import json
from pathlib import Path


def _sheet(name: str) -> str:
    return (Path(__file__).with_name("samples") / name).read_text(encoding="utf-8")


MDSTAT = """Personalities : [raid6] [raid5] [raid4]
md0 : active raid5 sda[0] sdb[1] sdc[2] sdd[4]
      11720656896 blocks super 1.2 level 5, 512k chunk, algorithm 2 [4/4] [UUUU]

unused devices: <none>
"""
DISKS = {
    **{f"sd{letter}": (4000787030016, "WDC WD40EFRX-68N32N0", f"8:{16 * at}") for at, letter in enumerate("abcd")},
    "nvme0n1": (1000204886016, "Samsung SSD 970 EVO 1TB", "259:0"),
    "nvme1n1": (1000204886016, "Samsung SSD 970 EVO 1TB", "259:1"),
}


def lsblk(*names: str) -> str:
    """What lsblk -J prints of some disks, without what is on them."""
    devices = [
        {"name": name, "kname": name, "type": "disk", "size": size, "rota": name.startswith("sd"), "model": model}
        | {"maj:min": numbers, "tran": "sata" if name.startswith("sd") else "nvme"}
        for name, (size, model, numbers) in DISKS.items()
        if not names or name in names
    ]
    return json.dumps({"blockdevices": devices}, indent=3)


LVS = _sheet("lvs.txt")
_FIELDS = ("lv_name", "vg_name", "lv_attr", "lv_size", "pool_lv", "origin", "devices", "segtype", "cache_mode")
_ROWS = (
    (
        "data",
        "vg0",
        "Cwi-aoC---",
        "11995508113408B",
        "[fast_cpool]",
        "[data_corig]",
        "data_corig(0)",
        "cache",
        "writeback",
    ),
    ("[data_corig]", "vg0", "owi-aoC---", "11995508113408B", "", "", "/dev/md0(0)", "linear", ""),
    ("[fast_cpool]", "vg0", "Cwi---C---", "214748364800B", "", "", "fast_cpool_cdata(0)", "cache-pool", "writeback"),
    ("[fast_cpool_cdata]", "vg0", "Cwi-ao----", "214748364800B", "", "", "/dev/nvme0n1(0)", "linear", ""),
    ("[fast_cpool_cmeta]", "vg0", "ewi-ao----", "54525952B", "", "", "/dev/nvme0n1(51200)", "linear", ""),
)
LVS_JSON = json.dumps({"report": [{"lv": [dict(zip(_FIELDS, row, strict=True)) for row in _ROWS]}]}, indent=4)
TABLE = """vg0-data: 0 23429726208 cache 253:2 253:1 253:3 512 2 metadata2 writeback smq 2 migration_threshold 4096
vg0-data_corig: 0 23429726208 linear 9:0 2048
vg0-fast_cpool_cdata: 0 419430400 linear 259:0 2048
vg0-fast_cpool_cmeta: 0 106496 linear 259:0 419432448
"""
LS = """vg0-data	(253:0)
vg0-data_corig	(253:3)
vg0-fast_cpool_cdata	(253:1)
vg0-fast_cpool_cmeta	(253:2)
"""
STATUS = _sheet("dmsetup-status.txt")
WRITECACHE = """vg0-log: 0 23429726208 writecache s 253:1 253:2 4096 4 high_watermark 70 autocommit_time 250
vg0-log_wcorig: 0 23429726208 linear 9:0 2048
vg0-wc_cvol: 0 209715200 linear 259:0 2048
"""
BACKING = """sb.magic		ok
sb.first_sector		8 [match]
sb.csum			FC6434BAB97C1B37 [match]
sb.version		1 [backing device]

dev.label		(empty)
dev.uuid		063814f0-0000-4db5-9cd5-b98ef658993f
dev.sectors_per_block	1
dev.sectors_per_bucket	1024
dev.data.first_sector	16
dev.data.cache_mode	1 [writeback]
dev.data.cache_state	2 [dirty]

cset.uuid		d6420bd9-0000-4688-a9c0-217c88072449
"""
CACHE = """sb.magic		ok
sb.first_sector		8 [match]
sb.csum			8D7A76DCA768AC61 [match]
sb.version		3 [cache device]

dev.label		(empty)
dev.uuid		7e099d6e-0000-49d8-bf55-1e79eacd59a4
dev.sectors_per_block	8
dev.sectors_per_bucket	4096
dev.cache.first_sector	4096
dev.cache.cache_sectors	1953521664
dev.cache.total_sectors	1953525760
dev.cache.ordered	yes
dev.cache.discard	no
dev.cache.pos		0
dev.cache.replacement	0 [lru]

cset.uuid		d6420bd9-0000-4688-a9c0-217c88072449
"""
SYSFS = """/sys/block/bcache0/bcache/cache_mode:writethrough [writeback] writearound none
/sys/block/bcache0/bcache/sequential_cutoff:0.0k
/sys/block/bcache0/bcache/dirty_data:1.5G
/sys/block/bcache0/bcache/state:dirty
/sys/block/bcache0/bcache/writeback_percent:40
/sys/block/bcache0/bcache/writeback_delay:30
/sys/block/bcache0/bcache/running:1
/sys/block/bcache0/bcache/backing_dev_name:md0
/sys/block/nvme0n1/bcache/bucket_size:2.0M
/sys/block/nvme0n1/bcache/nbuckets:476931
/sys/block/nvme0n1/bcache/cache_replacement_policy:[lru] fifo random
"""
FLASHCACHE = """cachedev_0: 0 23429726208 flashcache-syno conf:
	ssd dev (/dev/md1), disk dev (/dev/mapper/vg1-volume_1) cache mode(WRITE_BACK)
	capacity(204800M), associativity(512), data block size(64K) metadata block size(4096b)
	total blocks(3276800), cached blocks(120000), cache percent(3)
	dirty blocks(16000), dirty percent(0)
vg1-volume_1: 0 23429726208 linear 9:0 2048
"""
