"""File systems and benchmark programs of a scenario, drawn at random."""

from __future__ import annotations

from ....model.file_system import file_system_names
from .drawn_devices import Document
from .drawn_pools import DrawnPools


class DrawnPrograms(DrawnPools):
    """One scenario while it is being drawn, with file systems and programs on them."""

    tree: Document
    """The files that steps on a tree share."""

    def file_system(self, devices: list[str]) -> Document:
        """A file system on one of the devices."""
        made: Document = {"kind": self.one(*file_system_names(), *self.loose("zfs")), "on": self.one(*devices)}
        if self.maybe(4):
            made["start"] = self.one("1MiB", "300MiB", *self.loose("1TB"))
        if self.maybe(4):
            made["size"] = self.one("256MiB", "600MiB", *self.loose("1MiB", "1TB"))
        if self.maybe(4):
            made["age"] = self.one(0.1, 1.0, *self.loose(2.0))
        if self.maybe(4):
            made["overrides"] = self.one({"atime": "never"}, {"journal_size": "4MiB"}, *self.loose({"block": 0}))
        return made

    def programs(self, points: list[str]) -> Document:
        """Programs on the file systems at these mount points."""
        processes = self.one(1, 1, 2, 3, *self.loose(0))
        self.tree = {"files": self.one(1, 3, 100, 400), "bytes": self.one("1B", "40kB", "3MB", "9MB")}
        steps = [self._step(number, points) for number in range(self.one(1, 1, 2, 3, *self.loose(0)))]
        return {"kind": "programs", "processes": processes, "steps": steps}

    def _step(self, number: int, points: list[str]) -> Document:
        size = self.one("1MiB", "3MiB", "20MiB", "7654912B", *self.loose("1B", "1000B", "1TiB"))
        tree = self.tree if self.careful else {"files": self.one(1, 100), "bytes": self.one("1B", "3MB")}
        block = self.one("512B", "4KiB", "1MiB", "1000B", *self.loose("4MiB", "1B"))
        record = self.one("4KiB", "32KiB", "64KiB", *self.loose("1000B", "128KiB"))
        step: Document = self.one(
            {"program": "bonnie", "size": size, "files": self.one(1, 2), "sync": self.maybe()},
            {"program": "bonnie++", "size": size, "version": self.one("1.03", "1.9"), "small_files": self.one(0, 1)},
            {"program": "postmark", "number": self.one(1, 20, 60), "transactions": self.one(10, 100)},
            {"program": "postmark", "number": 20, "high": "3MB", "bias_read": -1, "subdirectories": 3},
            {"program": "dd", "size": size, "block_size": block, "file": "linux.tar"},
            {"program": "read", "size": size, "block_size": block},
            {"program": "cp", "size": size},
            {"program": "tar-x", "tree": tree},
            *self.loose({"program": "tar-x", "tree": tree, "archive": "linux.tar"}),
            {"program": "cp-r", "tree": tree},
            {"program": "tar-c", "tree": tree},
            {"program": "tar-pipe", "tree": tree, "source": self.one(*points, *self.loose("/mnt"))},
            {"program": "tiobench", "size": size, "threads": self.one(1, 3), "random_ios": self.one(1, 40)},
            {"program": "iozone", "size": self.one("64KiB", "1MiB", "4MiB", *self.loose(size)), "record": record},
            {"program": "remount"},
            *self.loose({"program": "fsx"}),
        )
        if step["program"] != "remount":
            if not self.careful and self.maybe():
                return step
            step["name"] = f"step {number}"
            if points and (len(points) > 1 or self.maybe(3)):
                step["on"] = self.one(*points)
        return step
