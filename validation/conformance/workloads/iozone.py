"""iozone compared with its recorded calls and offsets by phase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import PositiveInt

from ....model.programs.iozone import Iozone
from ....model.programs.operation import Kind, Operation
from ..base import KindResult, Progress, TruthFile
from ..shapes import Shape
from .files import field_differences, parsed


class _Truth(Shape):
    """A recorded run of iozone: for each phase its name, how the file was opened, and what was done."""

    file_bytes: PositiveInt
    record: PositiveInt
    phases: list[tuple[str, str, dict[str, Any]]]


def check(file: TruthFile, _: Sequence[TruthFile], result: KindResult, progress: Progress) -> None:
    """Compare what is recorded of each phase."""
    truth = parsed(_Truth, file)
    program = Iozone(truth.file_bytes, truth.record)
    phases = by_phase(program)
    random_read: list[int] = []
    for names, opened, recorded in truth.phases:
        case = names
        progress(f"{file.path.name} {case}")
        if "/" in names:
            missing = [name for name in names.split("/") if name not in phases]
            result.record(file.path.name, case, f"no phase {missing[0]} in the model" if missing else "")
            continue
        operations = phases.get(names)
        if operations is None:
            result.record(file.path.name, case, "no such phase in the model")
            continue
        done = _done(program, operations)
        if "random" in names and isinstance(recorded.get("offsets"), list):
            random_read = recorded["offsets"]
        expected = _expected(recorded, program, random_read)
        flags = next(operation.flags for operation in operations if operation.kind is Kind.OPEN)
        expected["opened"], done["opened"] = opened.split("(")[0], flags.split("|")[0]
        result.record(file.path.name, case, field_differences(expected, {name: done[name] for name in expected}))


def by_phase(program: Iozone) -> dict[str, list[Operation]]:
    """The operations of each phase."""
    phases: dict[str, list[Operation]] = {}
    current: list[Operation] = []
    for operation in program.operations():
        if operation.kind is Kind.MARK:
            current = phases.setdefault(operation.file, [])
        else:
            current.append(operation)
    return phases


def _done(program: Iozone, operations: Sequence[Operation]) -> dict[str, Any]:
    """What a phase of the model does, in the words of the recordings."""
    moves = [operation for operation in operations if operation.kind in (Kind.READ, Kind.WRITE)]
    offsets = [each.offset + number * each.call_bytes for each in moves for number in range(each.calls)]
    seeks = [operation.offset for operation in operations if operation.kind is Kind.SEEK]

    def calls(kind: Kind) -> int:
        return sum(operation.calls for operation in operations if operation.kind is kind)

    return {
        "read": calls(Kind.READ),
        "write": calls(Kind.WRITE),
        "fsync": calls(Kind.FSYNC),
        "lseek": len(seeks),
        "offsets": offsets,
        "seeks": seeks,
        "stride": f"{program.stride} records",
    }


def _expected(recorded: dict[str, Any], program: Iozone, random_read: list[int]) -> dict[str, Any]:
    """The recorded facts as values that can be compared: some are written in words."""
    record = program.record
    expected: dict[str, Any] = {}
    for name, value in recorded.items():
        if name == "note":
            continue
        if name == "read" and isinstance(value, str):  # "1 warm + 16"
            expected[name] = sum(int(word) for word in value.split() if word.isdigit())
        elif name == "offsets" and isinstance(value, str):  # "same permutation"
            expected[name] = random_read
        elif name == "lseek" and value == "SEEK_CUR -2*rec":
            expected["offsets"] = [number * record for number in reversed(range(program.records))]
        elif name == "lseek" and value == "0 each":
            expected["seeks"] = [0] * program.records
        else:
            expected[name] = value
    return expected
