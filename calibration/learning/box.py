"""A box of which nothing is known: what stands in an I/O's way, and how far each may be from what is usual.

Whatever is inside, an I/O needs time of the thread that submits it, of workers that all I/Os share (threads of a
controller, cores, drives), and of a path of its kind: links are full-duplex, and writes go to more drives than
reads. It also spends time in which it holds up nobody. Each needs a time by I/O and another by byte.

A read waits for one of the workers. A write that a buffer takes waits until the workers together have made room for it,
so one outstanding is nearly as fast as many. I/Os in order need less of the workers, and reads may have been read
ahead. A job that waits for its only I/O sleeps, as its core may, and is woken.
"""

from __future__ import annotations

import numpy as np

from .loads import Array, Columns
from .model import Parameter
from .network import Means, Station, solve

PARAMETERS = (
    Parameter("time of a read apart from queues", 1e-4, 2.0, "s"),
    Parameter("the same of a write, over a read's", 1.5, 1.0, ""),
    Parameter("time of a byte read apart from queues", 3e-10, 1.2, "s/B"),
    Parameter("the same of a byte written, over a read's", 1.0, 1.0, ""),
    Parameter("workers' time of a read", 5e-6, 2.0, "s"),
    Parameter("workers' time of a write, over a read's", 2.0, 0.8, ""),
    Parameter("workers' time of a byte read", 3e-11, 1.5, "s/B"),
    Parameter("workers' time of a byte written, over a read's", 1.5, 0.8, ""),
    Parameter("workers", 24.0, 1.0, ""),
    Parameter("read path's time of a byte", 1e-10, 1.5, "s/B"),
    Parameter("write path's time of a byte", 2e-10, 1.5, "s/B"),
    Parameter("lanes of a path", 2.0, 0.8, ""),
    Parameter("a job's time of an I/O", 2e-6, 0.7, "s"),
    Parameter("workers' time of a read in order, over one at random", 0.3, 1.0, ""),
    Parameter("the same of a write, over a read's", 1.0, 0.8, ""),
    Parameter("time of a read in order apart from queues, over one at random", 0.5, 0.8, ""),
    Parameter("workers that a write has to wait for, over all", 0.2, 1.5, ""),
    Parameter("servers that share a queue, besides one", 1.0, 1.0, ""),
    Parameter("time to wake a job that waits for its only I/O", 3e-6, 1.0, "s"),
)
"""Sources of the medians: none; each is within its standard deviation of disks as of flash."""


class BlackBox:
    """A box of which nothing is known; see :class:`.model.Model`."""

    parameters = PARAMETERS
    error = (0.1, 0.5)  # assumed: boxes are 10 % off such a network
    own_error = 0.0

    def means(self, parameters: Array, loads: Columns) -> Means:
        """See :meth:`.model.Model.means`."""
        of = np.exp(parameters)[..., np.newaxis, :]
        size, share = loads.block_size, loads.read_share
        read, write, ahead = (
            np.where(loads.sequential > 0, each, 1.0) for each in (of[..., 13], of[..., 13] * of[..., 14], of[..., 15])
        )
        workers_read = of[..., 4] * read + of[..., 6] * size
        workers_write = of[..., 4] * of[..., 5] * write + of[..., 6] * of[..., 7] * size
        workers, lanes, nothing = of[..., 8], of[..., 11], np.zeros(1)
        submit = of[..., 12] / loads.jobs
        wakes = np.where(loads.outstanding > loads.jobs, 0.0, of[..., 18])
        return solve(
            (
                Station(workers_read, workers_write, workers, np.maximum(1.0, workers * of[..., 16])),
                Station(of[..., 9] * size, nothing, lanes),
                Station(nothing, of[..., 10] * size, lanes),
                Station(submit, submit, loads.jobs),
            ),
            (of[..., 0] + of[..., 2] * size) * ahead + wakes,
            of[..., 0] * of[..., 1] + of[..., 2] * of[..., 3] * size + wakes,
            share,
            loads.outstanding,
            1 + of[..., 17],
        )


BLACK_BOX = BlackBox()
