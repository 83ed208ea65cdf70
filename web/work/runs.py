"""Runs of the whole server: worker processes, how many work at once, which ones wait, and which are stopped.

A simulation runs in a process of its own, so that the page answers meanwhile, and a run that is too long or no longer
wanted ends at once. Processes are kept for the next run: starting one takes as long as a small run.

Short and long runs wait in lanes of their own. While both lanes have runs, neither takes all processes, so a short run
never waits for the long ones of others.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Literal

from ... import RaidsimError
from ...scenarios.workers.process_setup import end_with_parent, interrupts_left_to_parent
from .kept import Kept
from .task import AnyTask, Progress, stopped

WORKERS = 2
"""Runs at once on the whole server."""
MOST_WAITING = 32
"""Runs that may wait for that; further ones are refused."""
MEMORY = 4 << 30
"""Bytes of address space of a worker."""
_LOOK_S = 0.05
_TELL_S = 0.2
_START_S = 120.0
"""How long a process may take to start on a busy machine; the CPU time of its run begins after that."""
_WALL = 10.0
"""A run that says nothing of its CPU time is stopped after a multiple of its limit on the wall clock."""

Question = tuple[str, str]
"""What is asked, and of which design."""
State = Literal["waiting", "running", "done", "refused", "cancelled"]


@dataclass(eq=False)
class Ticket:
    """One run that was asked for.

    Attributes
    ----------
    task
        What is to be done.
    state
        How it stands: "refused" also if it was stopped or failed.
    share
        How much of it is done, 0 to 1.
    cpu_s
        CPU time (s) that it has taken.
    early
        What it has given so far, to be shown while the rest is done.
    result
        What it gave, when it is done.
    message
        Why it was refused.
    question
        What its answer is kept by; None if it is not kept.
    wanted
        Visitors that wait for it.
    """

    task: AnyTask
    state: State = "waiting"
    share: float = 0.0
    cpu_s: float = 0.0
    early: Any = None
    result: Any = None
    message: str = ""
    question: Question | None = None
    wanted: int = 1
    cancelling: threading.Event = field(default_factory=threading.Event)

    @property
    def open(self) -> bool:
        """Whether something is still to come."""
        return self.state in ("waiting", "running")

    def cancel(self) -> None:
        """One visitor does not want it any more; without any it ends."""
        self.wanted -= 1
        if self.wanted > 0:
            return
        self.cancelling.set()
        if self.state == "waiting":
            self.state = "cancelled"


class Runs:
    """The server's runs.

    Parameters
    ----------
    workers
        Runs at once.
    most_waiting
        Runs that may wait.

    Attributes
    ----------
    kept
        Answers to questions that were asked before.
    """

    def __init__(self, workers: int = WORKERS, most_waiting: int = MOST_WAITING) -> None:
        self.workers = workers
        self.most_waiting = most_waiting
        self.kept = Kept()
        self._changed = threading.Condition()
        self._waiting: list[Ticket] = []
        self._running: list[Ticket] = []
        self._idle: list[_Worker] = []
        self._closed = False

    def prepare(self) -> None:
        """Begin a process before anyone asks for a run, so that the first one need not wait for it."""
        threading.Thread(target=self._keep_one, name="prepare", daemon=True).start()

    def _keep_one(self) -> None:
        worker = _Worker()
        with self._changed:
            if not self._closed:
                self._idle.append(worker)
                return
        worker.end()

    def start(self, task: AnyTask, question: Question | None = None) -> Ticket:
        """Do a task as soon as there is room; refused at once if too many wait already.

        Parameters
        ----------
        task
            What is to be done.
        question
            What its answer is kept by. If the same question is being answered for another visitor, both wait for that.
        """
        ticket = Ticket(task, question=question)
        with self._changed:
            for other in (*self._running, *self._waiting):
                if question is not None and other.question == question and other.open and other.wanted > 0:
                    other.wanted += 1
                    return other
            if len(self._waiting) >= self.most_waiting:
                ticket.state, ticket.message = "refused", "too many runs are waiting on this server; try again later"
                return ticket
            self._waiting.append(ticket)
        threading.Thread(target=self._see_through, args=(ticket,), name="run", daemon=True).start()
        return ticket

    def place(self, ticket: Ticket) -> int:
        """The place of a waiting run in its lane, from 1; 0 if it does not wait."""
        with self._changed:
            lane = [each for each in self._waiting if each.task.SHORT == ticket.task.SHORT]
            return lane.index(ticket) + 1 if ticket in lane else 0

    def close(self) -> None:
        """End all processes that are kept."""
        with self._changed:
            idle, self._idle = self._idle, []
            self._closed = True
        for worker in idle:
            worker.end()

    def _see_through(self, ticket: Ticket) -> None:
        if not self._takes_turn(ticket):
            return
        try:
            self._run(ticket)
        except Exception as error:  # the page must not wait for a run whose thread is gone
            traceback.print_exc(file=sys.stderr)
            _finish(ticket, "refused", f"the simulation could not be started ({type(error).__name__})")
        finally:
            with self._changed:
                self._running.remove(ticket)
                self._changed.notify_all()

    def _takes_turn(self, ticket: Ticket) -> bool:
        """Wait until the ticket is the first of its lane and there is room; False if it was canceled meanwhile."""
        with self._changed:
            while not ticket.cancelling.is_set():
                if self._may_begin(ticket):
                    self._waiting.remove(ticket)
                    self._running.append(ticket)
                    ticket.state = "running"
                    self._changed.notify_all()
                    return True
                self._changed.wait(_LOOK_S)
            self._waiting.remove(ticket)
            self._changed.notify_all()
        ticket.state = "cancelled"
        return False

    def _may_begin(self, ticket: Ticket) -> bool:
        """Whether a waiting run is next: one process is left to the other lane while that has runs too."""
        if len(self._running) >= self.workers:
            return False
        short = ticket.task.SHORT
        if next(each for each in self._waiting if short == each.task.SHORT) is not ticket:
            return False
        if self.workers == 1:
            return self._waiting[0] is ticket
        here = sum(short == each.task.SHORT for each in self._running)
        others_wait = any(short != each.task.SHORT for each in self._waiting)
        return here < self.workers - (not short or others_wait)

    def _run(self, ticket: Ticket) -> None:
        worker = self._worker()
        most_s = ticket.task.CPU_S
        kept = False
        try:
            worker.connection.send(ticket.task)
            deadline = time.monotonic() + _WALL * most_s
            while ticket.state == "running":
                if ticket.cancelling.is_set():
                    _finish(ticket, "cancelled", "")
                elif ticket.cpu_s > most_s or time.monotonic() > deadline:
                    _finish(ticket, "refused", stopped(ticket.task))
                elif worker.connection.poll(_LOOK_S):
                    kept = self._take(ticket, worker.connection.recv())
        except (EOFError, OSError):
            _finish(ticket, "refused", "the simulation ended without a result; it may have needed too much memory")
        finally:
            if kept:
                with self._changed:
                    self._idle.append(worker)
            else:
                worker.end()

    def _take(self, ticket: Ticket, message: tuple[str, Any]) -> bool:
        """What a worker says; True if it is ready for the next task."""
        kind, value = message
        if kind == "share":
            ticket.share, ticket.cpu_s = value
            return False
        if kind == "early":
            ticket.early = value
            return False
        if kind == "done":
            ticket.result, ticket.share = value, 1.0
            if ticket.question is not None:
                self.kept.keep(*ticket.question, value)
            _finish(ticket, "done", "")
        else:
            _finish(ticket, "refused", value)
        return True

    def _worker(self) -> _Worker:
        with self._changed:
            while self._idle:
                worker = self._idle.pop()
                if worker.process.is_alive():
                    return worker
        return _Worker()


class _Worker:
    """A process that does one task after the other."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=serve, args=(theirs,), name="raidsim run", daemon=True)
        with interrupts_left_to_parent():
            self.process.start()
        theirs.close()
        if not self.connection.poll(_START_S) or self.connection.recv() != ("ready", None):
            self.end()
            raise RuntimeError("no worker process")

    def end(self) -> None:
        """At once, whatever it is at."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def _finish(ticket: Ticket, state: State, message: str) -> None:
    ticket.message = message
    ticket.state = state


def serve(connection: Connection) -> None:
    """Work in a process of its own: tasks come over the connection, shares and results go back."""
    end_with_parent()
    _bound_memory()
    sending = threading.Lock()
    connection.send(("ready", None))
    while True:
        try:
            task: AnyTask = connection.recv()
        except EOFError:
            return
        progress, over = Progress(partial(_send, connection, sending, "early")), threading.Event()
        teller = threading.Thread(target=_tell, args=(connection, sending, progress, over), daemon=True)
        teller.start()
        answer = _answer(task, progress)
        over.set()
        teller.join()
        _send(connection, sending, *answer)


def _answer(task: AnyTask, progress: Progress) -> tuple[str, Any]:
    try:
        return "done", task.perform(progress)
    except RaidsimError as error:
        return "refused", str(error)
    except MemoryError:
        return "refused", "the simulation needs more memory than a run may have here"
    except Exception as error:  # a page shows one message, the server's log the rest
        traceback.print_exc(file=sys.stderr)
        return "refused", f"the simulation stopped with an error of its own ({type(error).__name__})"


def _tell(connection: Connection, sending: threading.Lock, progress: Progress, over: threading.Event) -> None:
    began_s = time.process_time()
    while not over.wait(_TELL_S):
        _send(connection, sending, "share", (progress.share, time.process_time() - began_s))


def _send(connection: Connection, sending: threading.Lock, kind: str, value: object) -> None:
    with sending:
        connection.send((kind, value))


def _bound_memory() -> None:
    """Let a scenario that needs too much memory fail before others do."""
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
