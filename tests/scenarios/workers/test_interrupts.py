"""Ctrl-C while a scenario is made into text, and while workers are started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.documents.document import read_document
from raidsim.scenarios.sweeps.point import result_key
from raidsim.scenarios.workers.process_setup import interrupts_postponed
from raidsim.tests.processes import PATIENCE_S


@pytest.fixture(autouse=True)
def _heeded() -> Iterator[None]:
    """Whoever runs the tests in the background ignores interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Interrupting(LoadSpec):
    """A workload that is interrupted when it is asked for what kind it is."""

    def __getattribute__(self, name: str) -> Any:
        if name == "kind":
            os.kill(os.getpid(), signal.SIGINT)
        return super().__getattribute__(name)


def interrupted() -> ScenarioSpec:
    """A scenario with such a workload."""
    spec = read_document("home-nas").spec()
    return spec.model_copy(update={"workload": Interrupting.model_construct(**dict(spec.workload))})


def test_pydantic_loses_an_interrupt() -> None:
    """The counter-test: a warning, and nothing else, is left of it. If this fails the next one is for nothing."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        interrupted().model_dump(mode="json")
    assert any("discriminator" in str(each.message) for each in said)


def test_an_interrupt_is_heeded_when_the_text_is_whole() -> None:
    """Protects Ctrl-C in a sweep of thousands: it ends the command, without a word of pydantic's."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyboardInterrupt):
            result_key(interrupted(), "model")


def test_what_was_there_before_is_there_again() -> None:
    """Protects who handles interrupts otherwise, or ignores them: nothing is raised that would not have been."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts_postponed():
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


FIRST_WORKERS = """
import signal
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context

from raidsim.scenarios.workers.process_setup import interrupts_left_to_parent

if __name__ == "__main__":
    for left in (interrupts_left_to_parent, nullcontext):
        with left():
            pool = ProcessPoolExecutor(1, get_context("spawn"))
            held_back = pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, [])
        print(signal.SIGINT in held_back.result())
        pool.shutdown()
    print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be held back here")
def test_the_first_worker_is_born_with_interrupts_held_back() -> None:
    """Protects Ctrl-C while workers import: none of them prints where it was. With the first one multiprocessing starts
    a process of its own and lets interrupts through. Counter-test: a worker that is started otherwise has them.
    """
    command = [sys.executable, "-c", FIRST_WORKERS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    assert done.stdout.split() == ["True", "False", "False"]
