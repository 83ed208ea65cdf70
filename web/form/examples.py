"""Designs to start from: each shows one thing that arrays are known for."""

from __future__ import annotations

from .fields import DEFAULT, Form

EXAMPLES: dict[str, Form] = {
    "Small writes on RAID 5": Form(read=0, depth=8),
    "Database on RAID 10": Form(level="raid10", block=8, jobs=8, depth=4, chunk=256, hot="zipf"),
    "Old controller without its cache": Form(
        drive="WD2500JS", level="raid5", disks=6, controller="Gateway-840", write_back=False, block=8
    ),
    "Four NVMe drives as RAID 5": Form(
        drive="Samsung-PM9A3-3840GB", level="raid5", disks=4, depth=32, jobs=4, length="short"
    ),
    "Video on RAID 6": Form(
        drive="IronWolf-Pro-20TB",
        level="raid6",
        disks=8,
        chunk=512,
        pattern="sequential",
        block=1024,
        read=0,
        jobs=8,
        depth=2,
    ),
    "Two disks, mirrored": Form(machine="workstation", drive="IronWolf-Pro-20TB", level="raid1", disks=2, depth=4),
    "RAID 6 that has lost two disks": Form(drive="IronWolf-Pro-20TB", level="raid6", disks=8, failed=2),
    "A rebuild under the load": Form(level="raid5", disks=8, failed=1, rebuilding=True, how="rate", iops=200),
    "More I/Os per second than it can do": Form(level="raid6", how="rate", iops=2000),
    "A backup next to the users": Form(jobs=16, depth=1, loads=2),
    "The usual one": DEFAULT,
}
"""By what they are called."""
