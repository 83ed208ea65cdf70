"""The device protocol: every wrapper passes every question on, or says why it does not."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from raidsim.model.block.block_file import BlockFile
from raidsim.model.block.faulty_drive import FaultyDrive
from raidsim.model.block.hardware_queues import HardwareQueues
from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.block.single_queue import BlockQueue
from raidsim.model.core.device import Device, SubmissionQueue, Wrapper, unplugs
from raidsim.model.core.discard_limits import DiscardLimits
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import READ, Request
from raidsim.model.crypt.cryptoloop import CryptDevice
from raidsim.model.crypt.dm_crypt import CryptPipeline, CryptSettings
from raidsim.model.memory.partition import Partition, Slice
from raidsim.model.raid.base.io_limit import BioSplit
from raidsim.model.raid.base.locks import LockedArray
from raidsim.model.raid.reshape.member import ReshapedMember
from raidsim.model.raid.resync.spares import MemberSlot
from raidsim.model.schedulers import Noop
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.house import sources

MIB = 1 << 20


class Full(Device):
    """A device with every ability, none of whose answers is the default."""

    spreads = False

    def __init__(self) -> None:
        self.name, self.capacity = "full", 64 * MIB
        self.asked: list[str] = []
        self.sleepers: dict[int, Any] = {}

    def submit(self, request: Request) -> None:
        self.asked.append("submit")

    @property
    def plugs(self) -> bool:
        return True

    def plug(self) -> None:
        self.asked.append("plug")

    def unplug(self) -> None:
        self.asked.append("unplug")

    @property
    def has_room(self) -> bool:
        return False

    def when_room(self, callback: Callable[[], None]) -> None:
        self.asked.append("when_room")

    def sleeps(self, issuer: int) -> bool:
        self.asked.append("sleeps")
        return issuer == 7

    def when_awake(self, issuer: int, callback: Callable[[], None]) -> None:
        self.asked.append("when_awake")

    def queues(self) -> tuple[SubmissionQueue, ...]:
        self.asked.append("queues")
        return (self,)  # type: ignore[return-value]

    task_plug: Any = "a plug"
    row_locks: Any = "row locks"
    waiting_readers: Any = "waiting readers"

    def flush(self, done: Callable[[], None]) -> None:
        self.asked.append("flush")

    @property
    def discard_limits(self) -> DiscardLimits:
        return DiscardLimits(4096, 16 * MIB)

    @property
    def submission_s_per_page(self) -> float:
        return 3e-6

    @property
    def foreground_bytes(self) -> int:
        return 12345


def made(below: Device) -> dict[type[Wrapper], Wrapper]:
    """Every wrapper over a device."""
    engine = Engine()
    host = Host(Cpu(engine))
    return {
        Partition: Partition(below, 0, 32 * MIB),
        Slice: Slice(below, 0, 32 * MIB, "slice"),
        MemberSlot: MemberSlot(below),
        BioSplit: BioSplit(below, MIB),
        BlockFile: BlockFile(below, host, MIB, MIB),
        CryptDevice: CryptDevice(engine, below, host, 1e-9),
        CryptPipeline: CryptPipeline(engine, below, host, CryptSettings(1e-9, allow_discards=True)),
        BlockQueue: BlockQueue(engine, host, below, Noop(MIB), 1, MIB, 8, None),
        BlkMqQueue: BlkMqQueue(engine, host, below, depth=1),
        HardwareQueues: HardwareQueues(engine, host, below, depth=1, hardware_queues=1),
        LockedArray: LockedArray(engine, host, below, [], []),
        FaultyDrive: FaultyDrive(engine, below),
        ReshapedMember: ReshapedMember(below, MIB, 64 * 1024),
    }


_OWN_QUEUE = "it is a queue of the kernel itself, in front of the device"
_THREADS = "its own threads submit to the device below, not the process above"
ON_ITS_OWN: dict[type[Wrapper], dict[str, str]] = {
    Partition: {"capacity": "it is a part of the device"},
    Slice: {"capacity": "it is a part of the device", "submit": "its requests keep their offsets"},
    MemberSlot: {"submit": "it remembers what is under way"},
    BioSplit: {},
    ReshapedMember: {"submit": "what lies behind the new data goes to another place"},
    BlockFile: {},
    LockedArray: {"submit": "the thread has its locks first"},
    FaultyDrive: dict.fromkeys(("submit", "flush"), "a slow drive serves one at a time"),
    CryptDevice: {
        "submit": "it encrypts first",
        "discard_limits": "discards pass only where they are allowed",
        "task_plug": "its unplug marks what is being encrypted as urgent",
        "submission_s_per_page": _THREADS,
        "row_locks": _THREADS,
        "waiting_readers": _THREADS,
    },
    CryptPipeline: {
        "submit": "it encrypts first",
        "task_plug": "writes are submitted under its thread's own plug",
        "submission_s_per_page": _THREADS,
        "row_locks": _THREADS,
        "waiting_readers": _THREADS,
    },
    BlockQueue: {
        **dict.fromkeys(("submit", "has_room", "when_room", "unplug", "foreground_bytes"), _OWN_QUEUE),
        "plugs": "it plugs itself when it is idle",
        "plug": "it plugs itself when it is idle",
        "discard_limits": "its kernels pass no discards on",
    },
    BlkMqQueue: dict.fromkeys(
        (
            *("submit", "has_room", "when_room", "plugs", "plug", "unplug", "foreground_bytes", "sleeps", "when_awake"),
            *("queues", "task_plug"),
        ),
        _OWN_QUEUE,
    ),
}
ON_ITS_OWN[HardwareQueues] = ON_ITS_OWN[BlkMqQueue]
CALLS: dict[str, tuple[Any, ...]] = {
    "submit": (Request(READ, 0, 4096, lambda _: None),),
    "when_room": (lambda: None,),
    "sleeps": (7,),
    "when_awake": (7, lambda: None),
    "flush": (lambda: None,),
}


def abilities() -> Iterator[str]:
    """Every name of the protocol."""
    yield "capacity"
    yield from (name for name in vars(Device) if not name.startswith("_") and name not in ("name", "capacity"))


def answer(device: Device, name: str) -> object:
    """What a device answers to one question."""
    value = inspect.getattr_static(Device, name)
    if isinstance(value, property) or name == "capacity":
        return getattr(device, name)
    return getattr(device, name)(*CALLS.get(name, ()))


def test_every_wrapper_is_tried() -> None:
    """Protects the test below: a new wrapper class has to be added to it."""
    known = {cls.__name__ for cls in made(Full())} | {"SubmittingThreads"}
    found = set()
    for name, path in sources().items():
        if name.startswith(("model.", "validation.")):
            text = path.read_text(encoding="utf-8")
            found |= {line.split("class ")[1].split("(")[0] for line in text.splitlines() if "(Wrapper):" in line}
    assert found - {"Tap", "CountedArray"} <= known


@pytest.mark.parametrize("name", list(abilities()))
@pytest.mark.parametrize("kind", list(made(Full())), ids=lambda kind: str(kind.__name__))
def test_wrappers_pass_every_question_on(kind: type[Wrapper], name: str) -> None:
    """Protects abilities from getting lost on the way: the answer is that of the device, unless there is a reason."""
    below = Full()
    wrapper = made(below)[kind]
    below.asked.clear()
    expected = answer(below, name)
    asked = list(below.asked)
    below.asked.clear()
    if name in ON_ITS_OWN[kind]:
        assert ON_ITS_OWN[kind][name]
        assert any(name in vars(each) for each in kind.__mro__ if each not in (Wrapper, Device)) or name == "capacity"
        return
    assert answer(wrapper, name) == expected
    assert below.asked == asked


def test_reasons_are_needed() -> None:
    """Protects the list of exceptions: a name on it really is answered by the wrapper itself."""
    for kind, reasons in ON_ITS_OWN.items():
        own = {name for each in kind.__mro__ if each not in (Wrapper, Device, object) for name in vars(each)}
        assert set(reasons) - own <= {"capacity"}, kind


def test_a_plain_device_needs_none_of_it() -> None:
    """Protects the neutral defaults: a device that only serves requests never holds back, fills up or blocks."""

    class Plain(Device):
        def submit(self, request: Request) -> None:
            request.complete()

    plain = Plain()
    plain.name, plain.capacity = "plain", MIB
    called: list[str] = []
    plain.plug()
    plain.unplug()
    plain.when_room(lambda: called.append("room"))
    plain.when_awake(1, lambda: called.append("awake"))
    plain.flush(lambda: called.append("flushed"))
    assert called == ["room", "awake", "flushed"]
    assert (plain.plugs, plain.has_room, plain.sleeps(1), plain.queues()) == (False, True, False, ())
    assert (plain.row_locks, plain.waiting_readers, plain.task_plug) == (None, None, None)
    assert (plain.submission_s_per_page, plain.foreground_bytes) == (0.0, 0)
    assert plain.discard_limits.refusal == "plain takes no discards"


def test_nobody_asks_whether_a_device_has_an_ability() -> None:
    """Protects the protocol: hasattr, and getattr with a default, are questions that it answers."""
    asked = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, path in sources().items()
        if name.startswith("model.")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and _asks(node.func.id, len(node.args))
    ]
    assert [each for each in asked if "_defused" not in each] == []  # SimPy marks events that way


def _asks(function: str, arguments: int) -> bool:
    return function == "hasattr" or (function == "getattr" and arguments > 2)


def test_only_devices_that_may_do_something_are_unplugged() -> None:
    """Protects wide arrays from asking every drive for nothing, and queues and arrays from being left out."""
    engine = Engine()
    drive = FixedServiceDevice(engine, "sda", 1 << 30, linear_service(1e-3))
    assert not unplugs(drive)
    assert unplugs(Wrapper(drive))
