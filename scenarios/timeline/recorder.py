"""Takes notes of what the parts of a machine do, without changing it.

Each part gets a class of its own when it is built, whose methods do what the part's class does and note it. No event is
added and no random number drawn, so a run is the same with and without; a run without has the plain classes.

Where a device puts work aside (md's thread, rows that gather), for what it is goes with the work: see
:mod:`.causes`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...compiled.loader import PURE, in_use
from ...model.block.request_queue import RequestQueue
from ...model.block.single_queue import BlockQueue
from ...model.controller.controller import RaidController
from ...model.core.engine import Engine
from ...model.core.errors import ModelError
from ...model.core.exact_sums import sum_in_order
from ...model.core.request import READ, WRITE, Request
from ...model.crypt.cryptoloop import CryptDevice
from ...model.disk.hard_disk import HardDisk
from ...model.links.link import Link
from ...model.raid.base.array import Array
from ...model.raid.base.io_limit import BioSplit
from ...model.raid.base.locks import LockedArray
from ...model.raid.metadata.superblock import MetadataWrite
from ...model.raid.parity.array import ParityArray
from ...model.raid.parity_6_1.stripe_handler import StripeHandler
from ...model.raid.parity_until_4_0.daemon import ParityDaemon
from ...model.solid_state.drive import SolidState
from ...model.tasks.host import Host
from .causes import Causes, Frame, kind_of, op_of, union
from .events import Command, ControllerCommand, CpuWork, Transfer

if TYPE_CHECKING:
    from ..machine.drives import Drive

_SAME = 1e-9
"""Two sums of the same times differ by no more than this share of them."""


class Recorder(Causes):
    """An observer that records the first I/Os of the measurement, and what was done meanwhile.

    Parameters
    ----------
    ios, stops
        As for :class:`.causes.Causes`.

    Attributes
    ----------
    began_s
        When the measurement began (s).
    """

    def __init__(self, ios: int, stops: bool = False) -> None:
        super().__init__(ios, stops)
        self.began_s = 0.0

    def forget(self) -> None:
        """See :meth:`.causes.Causes.forget`."""
        super().forget()
        self._command: Frame | None = None
        self._started: dict[Request, float] = {}
        self.commands: list[Command] = []
        self.work: list[CpuWork] = []
        self.transfers: list[Transfer] = []
        self.controller_commands: list[ControllerCommand] = []

    @property
    def ended_s(self) -> float:
        """When the last thing noted was over (s)."""
        times = [self.began_s, *(io.ended_s or io.began_s for io in self.ios)]
        times += [each.ended_s for each in self.commands]
        times += [each.ended_s for each in self.work]
        times += [each.ended_s for each in self.transfers]
        times += [each.ended_s for each in self.controller_commands]
        return max(times)

    # the observer

    def built_on(self, engine: Engine) -> None:
        """See :meth:`raidsim.scenarios.machine.observer.Observer.built_on`."""
        if in_use():
            raise ModelError(f"a timeline watches the parts at work, and compiled ones cannot be watched: set {PURE}=1")
        self._engine = engine
        self._targets = set()
        self.on = False
        self.forget()

    def begin(self) -> None:
        """See :meth:`raidsim.scenarios.machine.observer.Observer.begin`."""
        self.forget()
        self.began_s = self._engine.now
        self.on = self._most > 0

    def target(self, device: Any) -> None:
        """See :meth:`raidsim.scenarios.machine.observer.Observer.target`."""
        self._targets.add(id(device))

    def part(self, part: Any) -> None:
        """See :meth:`raidsim.scenarios.machine.observer.Observer.part`."""
        if isinstance(part, Link):
            self._watch_link(part)
        elif isinstance(part, Host):
            self._watch_host(part)
        elif isinstance(part, HardDisk | SolidState):
            self._watch_disk(part)
        elif isinstance(part, RequestQueue | BlockQueue):
            self._watch_queue(part)
        elif isinstance(part, RaidController):
            self._watch_controller(part)
        elif isinstance(part, Array):
            self._watch_array(part)
        elif isinstance(part, CryptDevice):
            base: Any = type(part)
            _change(part, {"submit": self.submitting(base.submit), "_start": self.doing(base._start)})
        elif isinstance(part, BioSplit | LockedArray):
            _change(part, {"submit": self.submitting(type(part).submit)})

    # queues and drives

    def _watch_queue(self, queue: RequestQueue | BlockQueue) -> None:
        base: Any = type(queue)
        changed = {"submit": self.submitting(base.submit)}
        if isinstance(queue, RequestQueue):

            def submit_piece(device: RequestQueue, request: Request) -> None:
                if self.on:
                    self.meet(device, request)
                base._submit_piece(device, request)

            changed["_submit_piece"] = submit_piece
        _change(queue, changed)

    def _watch_disk(self, disk: Drive) -> None:
        base: Any = type(disk)

        def ended(request: Request, frame: Frame) -> None:
            self.commands.append(self._finished_command(disk, request, frame, self._started.pop(request, None)))

        def submit(device: Drive, request: Request) -> None:
            if not self.on:
                base.submit(device, request)
                return
            self.meet(device, request, ended)
            before, self._command = self._command, self.frame_of(request)
            base.submit(device, request)
            self._command = before

        def start(device: Drive, request: Request, now: float) -> None:
            before, self._command = self._command, self.frame_of(request)
            if self.on:
                self._started[request] = now
            base._start(device, request, now)
            self._command = before

        _change(disk, {"submit": submit, "_start": start})

    def _finished_command(self, disk: Drive, request: Request, frame: Frame, started: float | None) -> Command:
        parts = getattr(request, "parts", [request])
        arrivals = [part.submitted for part in parts if part.submitted]
        sent = request.submitted
        roles = [_role(known, disk.name, part) for part in parts if (known := self.known(part)) is not None]
        return Command(
            drive=disk.name,
            kind=frame.kind,
            role=roles[0] if roles and roles.count(roles[0]) == len(roles) else "",
            causes=frame.causes,
            op=op_of(request.op),
            offset=request.offset,
            size=request.size,
            parts=len(parts),
            arrived_s=min(arrivals, default=getattr(request, "arrived", sent)),
            sent_s=sent,
            started_s=sent if started is None else started,
            ended_s=self._engine.now,
        )

    def _watch_link(self, link: Link) -> None:
        base: Any = type(link)

        def reserve(link: Link, now: float, earliest: float, size: int, write: bool = False) -> tuple[float, float]:
            begin, end = base.reserve(link, now, earliest, size, write)
            if self.on:
                frame = self._command or self.current
                causes = frame.causes if frame is not None else ()
                self.transfers.append(Transfer(link.name, op_of(write), size, causes, begin, end))
            return begin, end

        _change(link, {"reserve": reserve})

    # arrays and controllers

    def _watch_array(self, array: Array) -> None:
        base: Any = type(array)
        changed = {name: self.submitting(getattr(base, name), True) for name in ("submit", "_read", "_write")}
        for name in ("resync", "check", "synchronise"):
            if hasattr(base, name):
                changed[name] = self.doing_for(getattr(base, name), lambda *_: Frame((), "resync", array))

        def charge_before(array: Array, seconds: float, then: Callable[[], None]) -> None:
            base._charge_before(array, seconds, self._later(then, False) if self.on else then)

        def compute_resync(array: Array, seconds: float, then: Callable[[], None]) -> None:
            base.compute_resync(array, seconds, self._later(then, False) if self.on else then)

        changed |= {"_charge_before": charge_before, "compute_resync": compute_resync}
        _change(array, changed)
        if isinstance(array, ParityArray):
            self._watch_parity(array, array._writer, array._reader._md_thread)

    def _watch_parity(self, array: ParityArray, writer: Any, thread: Any) -> None:
        """What is put aside: rows that gather, and the work of md's thread."""
        base: Any = type(writer)

        def owned(owners: list[Any], op: int = WRITE) -> Frame:
            frames = [frame for owner in owners if (frame := self.frame_of(owner.request)) is not None]
            kind = frames[0].kind if frames else kind_of(owners[0].request) if owners else "load"
            return Frame(union(frame.causes for frame in frames), kind, array, op)

        if not isinstance(writer, StripeHandler):
            _change(writer, {"complete_row": self.doing_for(base.complete_row, lambda _, row: owned(row.owners))})
            self._watch_daemon(writer.daemon)
            return

        def of_run(_: Any, run: Any, plan: Any) -> Frame:
            return owned([piece.owner for piece in run.pieces])

        def of_flight(_: Any, flight: Any, *rest: Any) -> Frame:
            return owned([piece.owner for piece in flight.pieces])

        changes = {
            "_read_up": self.doing_for(base._read_up, of_run, "read up"),
            "_write": self.doing_for(base._write, of_run, "copy and XOR"),
            "_send_writes": self.doing_for(base._send_writes, of_flight, "send writes"),
            "_finish": self.doing_for(base._finish, of_flight, "finish"),
        }
        _change(writer, changes)
        self._watch_thread(thread)

    def _watch_daemon(self, daemon: ParityDaemon) -> None:
        base = type(daemon)

        def do(daemon: ParityDaemon, work: Callable[..., None], done: tuple[Request, ...]) -> None:
            base.do(daemon, self._later(work, False) if self.on else work, done)

        def compute(daemon: ParityDaemon, seconds: float, then: Callable[[], None]) -> None:
            base.compute(daemon, seconds, self._later(then, False) if self.on else then)

        _change(daemon, {"do": do, "compute": compute})

    def _watch_thread(self, thread: Any) -> None:
        base: Any = type(thread)

        def add(thread: Any, work: Callable[[], float], heads: int = 1) -> None:
            base.add(thread, self._later(work, True) if self.on else work, heads)

        def then(thread: Any, callback: Callable[[], None]) -> None:
            base.then(thread, self._later(callback, False) if self.on else callback)

        def send(thread: Any, slot: int, request: Request) -> None:
            if self.on:
                self.assigned[request] = self.current
            base.send(thread, slot, request)

        _change(thread, {"add": add, "then": then, "send": send})

    def _later(self, call: Callable[..., Any], works: bool) -> Callable[..., Any]:
        """`call`, done for what is being done now; what it `works` is CPU time."""
        frame = self.current

        def noted(*arguments: Any) -> Any:
            before, self.current = self.current, frame
            known = len(self.parts_of_pass)
            found = call(*arguments)
            self.current = before
            if works and self.on:
                rest = found - sum_in_order(seconds for _, seconds, _ in self.parts_of_pass[known:])
                if rest > _SAME * found:
                    self.parts_of_pass.append(("md thread", rest, frame.causes if frame is not None else ()))
            return found

        return noted

    def _watch_controller(self, controller: RaidController) -> None:
        base: Any = type(controller)
        submit = self.submitting(base.submit)

        def ended(request: Request, frame: Frame) -> None:
            noted = ControllerCommand(
                controller.name,
                op_of(request.op),
                request.offset,
                request.size,
                frame.causes,
                request.submitted,
                self._engine.now,
            )
            self.controller_commands.append(noted)

        def submit_noted(device: RaidController, request: Request) -> None:
            if self.on:
                self.meet(device, request, ended)
            submit(device, request)

        _change(controller, {"submit": submit_noted, "_transfer": self.doing(base._transfer)})
        ahead = controller._ahead
        _change(ahead, {"read": self.doing_for(type(ahead).read, lambda *_: Frame((), "read-ahead"))})
        destager = controller._destager
        _change(
            destager, {"_write": self.doing_for(type(destager)._write, lambda *_: Frame((), "destage", None, WRITE))}
        )

    # processors

    def _watch_host(self, host: Host) -> None:
        base: Any = type(host)

        def complete_command(host: Host, core: int | None = None) -> None:
            known = len(self.work)
            base.complete_command(host, core)
            for i in range(known, len(self.work)):
                work = self.work[i]
                self.work[i] = CpuWork(work.processor, "interrupt", work.causes, work.began_s, work.ended_s)

        _change(host, {"complete_command": complete_command})
        cpu = host.cpu
        processor: Any = type(cpu)

        def interrupt(cpu: Any, seconds: float, core: int | None = None) -> float:
            end: float = processor.interrupt(cpu, seconds, core)
            if self.on:
                self._note_work(cpu.name, end - seconds, seconds)
            return end

        def note_run(seconds: float, core: int | None) -> None:
            if self.on:
                begin = max(self._engine.now, cpu.free_on(core))
                self.work.append(CpuWork(cpu.name, "program", (), begin, begin + seconds))

        def run(cpu: Any, seconds: float, core: int | None = None) -> Any:
            note_run(seconds, core)
            return processor.run(cpu, seconds, core)

        def run_then(cpu: Any, seconds: float, core: int | None, then: Any) -> None:
            note_run(seconds, core)
            processor.run_then(cpu, seconds, core, then)

        _change(cpu, {"interrupt": interrupt, "run": run, "run_then": run_then})

    def _note_work(self, processor: str, began: float, seconds: float) -> None:
        """A processor works for so long: for the parts of a pass of md's thread, or for what is being done."""
        parts, self.parts_of_pass = self.parts_of_pass, []
        if not parts or abs(sum_in_order(each for _, each, _ in parts) - seconds) > _SAME * seconds:
            frame = self.current
            what, causes = ("kernel", ()) if frame is None else (_work_of(frame), frame.causes)
            parts = [(what, seconds, causes)]
        for what, each, causes in parts:
            self.work.append(CpuWork(processor, what, causes, began, began + each))
            began += each


def _change(part: Any, methods: dict[str, Any]) -> None:
    """Give a part a class of its own, with other methods."""
    base: Any = type(part)
    part.__class__ = type(base)(base.__name__, (base,), {"__slots__": (), "__module__": base.__module__, **methods})


def _work_of(frame: Frame) -> str:
    if isinstance(frame.array, ParityArray):
        return "parity (copy and XOR)" if frame.op == WRITE else "parity array"
    if isinstance(frame.array, CryptDevice):
        return "encryption"
    if isinstance(frame.array, RaidController):
        return "host command"
    return "array" if frame.array is not None else frame.kind


def _role(frame: Frame, drive: str, request: Request) -> str:
    """What a member of a parity array is asked for."""
    array = frame.array
    if not isinstance(array, ParityArray) or isinstance(request, MetadataWrite) or frame.kind == "resync":
        return ""
    slot = next((slot for slot, member in enumerate(array.members) if member.name == drive), None)
    if slot is None or request.offset >= array.resync_bytes:
        return ""
    row = array.layout.row(request.offset // array.layout.chunk_bytes)
    role = "parity" if slot == row.p else "Q" if slot == row.q else "data"
    return f"old {role}" if request.op == READ and frame.op == WRITE else role
