"""Where the points of a sweep are run: on processes of this computer, or on a Dask cluster.

Both are an :class:`concurrent.futures.Executor`, and any other one will do.
"""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from types import TracebackType
from typing import Any, Self

from ...model.core.errors import InputError
from ...model.files.extras import how_to_install
from ..workers.process_setup import end_pool, end_with_parent, interrupts_left_to_parent, main_left_out
from ..workers.start_method import worker_context
from . import point as sweep_point
from .point import Batch, BatchReport, run_batch

_LOGGERS = ("distributed", "distributed.client", "distributed.core", "distributed.utils", "tornado.application")
"""Of Dask's client, which tells at length of connections that end; they are told of here."""
_ADDRESS = re.compile(r"([a-z]+://)?\S+:[0-9]{1,5}|inproc://\S+")
"""With a port: Dask tries for half a minute to reach a scheduler without one."""
_KEPT = "what was done is kept: the same command goes on there"


class SweepWorkers:
    """Workers of any executor.

    Parameters
    ----------
    make
        Makes the executor, also anew after it broke.
    count
        Points that it runs at a time.

    Attributes
    ----------
    names_the_dead
        Whether the executor tells which of the batches under way a worker died of; otherwise it breaks as a whole.
    """

    names_the_dead = False

    def __init__(self, make: Callable[[], Executor], count: int) -> None:
        self._make = make
        self._executor: Executor | None = None
        self._count = count

    @property
    def count(self) -> int:
        """Points that are run at a time."""
        return self._count

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(at_once=kind is not None)

    def submit(self, batch: Batch) -> Future[BatchReport]:
        """Have a batch run."""
        if self._executor is None:
            self._executor = self._make()
        return self._executor.submit(run_batch, batch)

    def died(self, error: BaseException) -> bool:
        """Whether an error means that a worker is gone, and not that a batch has failed."""
        return isinstance(error, (BrokenExecutor, CancelledError))

    def check(self) -> None:
        """Raise `InputError` if no result can come any more."""

    def restart(self) -> None:
        """Give up what is under way, and begin with new workers."""
        self.close(at_once=True)

    def close(self, at_once: bool) -> None:
        """End the workers; `at_once`: also in the middle of a point."""
        if self._executor is not None:
            self._executor.shutdown(wait=not at_once, cancel_futures=True)
            self._executor = None


class ThisProcess(SweepWorkers):
    """No workers: points are run where the sweep is, which a point that ends its process ends as well."""

    def __init__(self) -> None:
        super().__init__(_AtOnce, 1)


class _AtOnce(Executor):
    """Runs what is submitted before it returns, in the thread that submits it."""

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(work(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


class ProcessWorkers(SweepWorkers):
    """Processes of this computer.

    Parameters
    ----------
    count
        How many.
    """

    def __init__(self, count: int) -> None:
        super().__init__(lambda: ProcessPoolExecutor(count, worker_context(run_batch), _begin_process), count)

    def submit(self, batch: Batch) -> Future[BatchReport]:
        with interrupts_left_to_parent(), main_left_out():
            return super().submit(batch)

    def close(self, at_once: bool) -> None:
        pool, self._executor = self._executor, None
        if isinstance(pool, ProcessPoolExecutor):
            end_pool(pool, at_once)
        elif pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)


def _begin_process() -> None:
    """Begin a worker: it ends when its parent is gone, however that ended, also in the middle of a simulation."""
    sweep_point.own_process = True
    end_with_parent()


class ClusterWorkers(SweepWorkers):
    """Workers of a Dask cluster.

    Parameters
    ----------
    address
        Of the scheduler, such as "tcp://host:8786".
    tell
        Told in words that there are no workers at the moment.

    Raises
    ------
    InputError
        If there is no scheduler there, or `distributed` is not installed.
    """

    names_the_dead = True
    patience_s = 60.0
    """How long a cluster may be without workers."""
    _CONNECT_S = 10
    _LOOK_S = 1.0

    def __init__(self, address: str, tell: Callable[[str], None] = lambda _: None) -> None:
        allowed = "expected: the address of a Dask scheduler that is running, such as tcp://host:8786"
        if not _ADDRESS.fullmatch(address):
            raise InputError("--scheduler", f"{address!r:.80} is no address", allowed)
        try:
            import distributed
        except ModuleNotFoundError as error:
            found = f"it needs the module {error.name}"
            raise InputError("--scheduler", found, how_to_install("sweep")) from None
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self.address = address
        self._tell = tell
        self._killed = distributed.scheduler.KilledWorker
        self._without_since: float | None = None
        self._counted, self._counted_at = 0, -math.inf
        try:
            client: Any = distributed.Client
            self._client: Any = client(address, timeout=self._CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TypeError, ImportError) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise InputError("--scheduler", f"no scheduler at {address!r:.80} ({reason})", allowed) from None
        super().__init__(self._client.get_executor, 1)

    @property
    def count(self) -> int:
        return max(1, self._threads())

    def _threads(self) -> int:
        """Of all workers; looked up once a second."""
        now = time.monotonic()
        if now - self._counted_at > self._LOOK_S:
            try:
                threads: dict[str, int] = self._client.nthreads()
            except (OSError, TimeoutError, ValueError) as error:
                raise self._gone() from error
            self._counted, self._counted_at = sum(threads.values()), now
        return self._counted

    def _gone(self) -> InputError:
        return InputError("--scheduler", f"the scheduler at {self.address} is gone", _KEPT)

    def died(self, error: BaseException) -> bool:
        return super().died(error) or isinstance(error, self._killed)

    def check(self) -> None:
        if self._client.status != "running":
            raise self._gone()
        if self._threads():
            self._without_since = None
            return
        now = time.monotonic()
        if self._without_since is None:
            self._without_since = now
            self._tell(f"the cluster at {self.address} has no workers; waiting for {self.patience_s:.0f} s")
        elif now - self._without_since > self.patience_s:
            found = f"the cluster at {self.address} has been without workers for {self.patience_s:.0f} s"
            raise InputError("--scheduler", found, _KEPT)

    def restart(self) -> None:
        self._leave(at_once=True)

    def close(self, at_once: bool) -> None:
        self._leave(at_once)
        self._client.close(timeout=self._CONNECT_S)

    def _leave(self, at_once: bool) -> None:
        """Release the executor, which cancels what is under way unless it is waited for."""
        if self._executor is not None:
            self._executor.shutdown(wait=not at_once)
            self._executor = None
