"""tar and cp compared with their recorded calls, and the model's tree with the statistics of the recorded one.

The sizes of the single files and their order are not recorded. What does not depend on them is compared exactly.
The writes of tar do: they must be within two standard deviations of what the recorded totals let expect, and its full
records, the percentiles and the sums in blocks within the shares that stand here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Self

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from ....model.programs.copying import (
    TAR_RECORD,
    SizeClass,
    Tree,
    archive_bytes,
    copy_calls,
    copy_in_kernel,
    expected_writes,
    size_classes,
    tar_extract,
)
from ....model.programs.operation import Kind, Operation, system_calls
from ..base import KindResult, Progress, TruthFile
from ..shapes import Shape
from .files import beyond, field_differences, parsed

_BLOCK_SHARE = 0.005
_PERCENTILE_SHARE = 0.12
_SHAPE_SHARE = 0.02
_FULL_RECORD_SHARE = 0.01
_DEVIATIONS = 2.0


Interval = Annotated[str, Field(pattern=r"^\[\d+,(\d+|inf)\)$")]
Depth = Annotated[str, Field(pattern=r"^\d+$")]
Percentile = Annotated[str, Field(pattern=r"^\d{1,2}(\.\d+)?$")]


class _Class(Shape):
    """Files of one class of sizes."""

    files: NonNegativeInt
    bytes: NonNegativeInt


class _TreeTruth(Shape):
    """Statistics of a tree of files."""

    files: PositiveInt
    dirs_incl_root: PositiveInt
    symlinks: int
    total_bytes: int
    mean: float
    median: float
    percentiles: dict[Percentile, float]
    max: int
    zero_length: int
    bytes_rounded_4096: PositiveInt
    bytes_rounded_1024: PositiveInt
    bytes_rounded_512: PositiveInt
    blocks4k: PositiveInt
    lognormal_mu: float
    lognormal_sigma: float
    hist: dict[Interval, _Class]
    max_entries_in_dir: PositiveInt
    mean_entries_per_dir: float
    dir_depth_hist: dict[Depth, PositiveInt]

    @model_validator(mode="after")
    def _classes_are_possible(self) -> Self:
        for each in self.classes():
            if not each.low * each.files <= each.bytes <= (each.high - 1) * each.files:
                raise ValueError(f"allowed in a class of {each.files} files: bytes that make sizes from {each.low}")
        if "0" not in self.dir_depth_hist or not any(each.files for each in self.classes()):
            raise ValueError("expected: a root directory, and files")
        return self

    def classes(self) -> list[SizeClass]:
        """The histogram of sizes."""
        return size_classes({interval: each.model_dump() for interval, each in self.hist.items()})


class _TarTruth(Shape):
    """The calls of tar -x; of writes with a whole record, how many."""

    archive_reads: int
    archive_read_size: int
    file_writes_syscalls: int
    file_write_modal: dict[Annotated[str, Field(pattern="^10240$")], int]
    file_bytes: int
    open_exclusive: int = Field(alias="open_O_EXCL")
    mkdir: int
    per_file: list[str]
    fsync: int


def check_tree(file: TruthFile, _: Sequence[TruthFile], result: KindResult, progress: Progress) -> None:
    """Compare the tree that the model makes from the histograms with the other statistics."""
    truth = parsed(_TreeTruth, file)
    name = file.path.name
    tree = _tree(truth)
    sizes = sorted(each.size for each in tree.files())
    entries = len(sizes) + tree.directories - 1

    def record(case: str, difference: str) -> None:
        progress(f"{name} {case}")
        result.record(name, case, difference)

    counts = {
        "files": truth.files,
        "directories": truth.dirs_incl_root,
        "links": truth.symlinks,
        "bytes": truth.total_bytes,
        "empty": truth.zero_length,
        "mean": truth.mean,
        "entries a directory": truth.mean_entries_per_dir,
        "largest directory": truth.max_entries_in_dir,
    }
    model = {
        "files": len(sizes),
        "directories": tree.directories,
        "links": 0,
        "bytes": sum(sizes),
        "empty": sizes.count(0),
        "mean": sum(sizes) / len(sizes),
        "entries a directory": entries / tree.directories,
        "largest directory": tree.most_entries(),
    }
    record("counts", field_differences(counts, model))
    depths = Counter(str(path.count("/")) for path, _ in tree.entries)
    record("depths", field_differences(truth.dir_depth_hist, dict(depths)))
    recorded_classes = {interval: each.model_dump() for interval, each in truth.hist.items()}
    record("classes of sizes", field_differences(recorded_classes, _histogram(truth, sizes)))
    sums = {
        "4096": truth.bytes_rounded_4096,
        "1024": truth.bytes_rounded_1024,
        "512": truth.bytes_rounded_512,
        "blocks": truth.blocks4k,
    }
    rounded = {key: sum(-(-size // int(key)) for size in sizes) * int(key) for key in ("4096", "1024", "512")}
    record("bytes in blocks", beyond(sums, {**rounded, "blocks": rounded["4096"] // 4096}, _BLOCK_SHARE))
    ranks = {**truth.percentiles, "50 (median)": truth.median, "100 (max)": truth.max}
    values = {rank: float(np.percentile(sizes, float(rank.split()[0]))) for rank in ranks}
    record("percentiles", beyond(ranks, values, _PERCENTILE_SHARE))
    logs = [math.log(size) for size in sizes if size]
    shape = {"mu": truth.lognormal_mu, "sigma": truth.lognormal_sigma}
    record("logarithms", beyond(shape, {"mu": float(np.mean(logs)), "sigma": float(np.std(logs))}, _SHAPE_SHARE))


def check_programs(file: TruthFile, files: Sequence[TruthFile], result: KindResult, progress: Progress) -> None:
    """Compare the calls of tar and of both generations of cp on the recorded tree."""
    name, content = file.path.name, file.content
    found = next((other for other in files if "dir_depth_hist" in other.content), None)
    truth = None if found is None else parsed(_TreeTruth, found)
    tree = None if truth is None else _tree(truth)
    for program, recorded in content.items():
        if not isinstance(recorded, dict):
            continue
        progress(f"{name} {program}")
        if truth is None or tree is None:
            result.record(name, program, "there is no recording of the tree beside it")
            continue
        if program.startswith("tar"):
            _check_tar(file, parsed(_TarTruth, TruthFile(file.path, recorded)), truth, tree, result)
        elif "copy_file_range" in recorded:
            calls = system_calls(copy_in_kernel(tree))
            model = {"copy_file_range": calls.get("copy_file_range", 0), "fsync": calls.get("fsync", 0)}
            ours = {key: value for key, value in recorded.items() if key in model}
            result.record(name, program, field_differences(ours, model))
            listed = {"mkdir", "getdents"} <= calls.keys()
            missing = "" if listed else "the model does not make and list each directory"
            result.record(name, f"{program}: directories", missing)
        else:
            reads, writes = copy_calls(truth.files, truth.blocks4k)
            ours = {key: value for key, value in recorded.items() if isinstance(value, int)}
            result.record(
                name, program, field_differences(ours, {"read_calls_4096": reads, "write_calls_4096": writes})
            )


def _check_tar(file: TruthFile, recorded: _TarTruth, truth: _TreeTruth, tree: Tree, result: KindResult) -> None:
    name = file.path.name
    entries = truth.files + truth.dirs_incl_root
    size = archive_bytes(entries, truth.bytes_rounded_512)
    found = re.search(r"ustar file (\d+) bytes", str(file.content["tree"]))
    result.record(name, "tar: archive", field_differences({"bytes": int(found[1]) if found else 0}, {"bytes": size}))
    operations = list(tar_extract(tree))
    calls = system_calls(operations)
    exact = {
        "archive_reads": size // TAR_RECORD,
        "archive_read_size": TAR_RECORD,
        "file_bytes": sum(operation.size for operation in operations if operation.kind is Kind.WRITE),
        "open_exclusive": calls["open(O_WRONLY|O_CREAT|O_EXCL)"],
        "mkdir": calls["mkdir"],
        "fsync": calls.get("fsync", 0),
    }
    result.record(name, "tar: calls", field_differences({key: getattr(recorded, key) for key in exact}, exact))
    mean, deviation = expected_writes(truth.files, entries, truth.bytes_rounded_512)
    writes = recorded.file_writes_syscalls
    off = abs(writes - mean) > _DEVIATIONS * deviation
    result.record(name, "tar: writes", f"recorded {writes}, model {mean:.0f} +- {deviation:.0f}" if off else "")
    full = {str(TAR_RECORD): calls.get(f"write[{TAR_RECORD}]", 0)}
    result.record(name, "tar: full records", beyond(recorded.file_write_modal, full, _FULL_RECORD_SHARE))
    words = [step.partition("(")[0].partition(" ")[0] for step in recorded.per_file]
    result.record(
        name, "tar: calls of a file", "" if words == _per_file(operations) else f"model {_per_file(operations)}"
    )


def _per_file(operations: Sequence[Operation]) -> list[str]:
    """The calls on the first file, runs of writes as one."""
    first = next(operation.file for operation in operations if operation.kind is Kind.OPEN)
    words = ["openat" if each.kind is Kind.OPEN else each.kind.value for each in operations if each.file == first]
    return [word for index, word in enumerate(words) if not index or word != words[index - 1]]


def _tree(truth: _TreeTruth) -> Tree:
    depths = {int(depth): count for depth, count in truth.dir_depth_hist.items()}
    return Tree.from_histogram(truth.classes(), depths, truth.max_entries_in_dir)


def _histogram(truth: _TreeTruth, sizes: Sequence[int]) -> dict[str, dict[str, int]]:
    counted = {}
    for interval, each in zip(truth.hist, truth.classes(), strict=True):
        inside = [size for size in sizes if each.low <= size < each.high]
        counted[interval] = {"files": len(inside), "bytes": sum(inside)}
    return counted
