"""What a posterior is over: anything with parameters that says what a box does under loads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .box import PARAMETERS, Parameter, means
from .loads import Array, Columns
from .network import Means


class Model(Protocol):
    """What a box may be.

    Attributes
    ----------
    parameters
        What is not known of it, independent of each other before anything is measured.
    own_error
        Standard deviation of the logarithm of a rate, or of a ratio of latencies, by which `means` is off what the
        model really gives.
    """

    parameters: Sequence[Parameter]
    own_error: float

    def means(self, parameters: Array, loads: Columns) -> Means:
        """What the box does.

        Parameters
        ----------
        parameters
            Logarithms of `parameters`, in the last dimension.
        loads
            n of them.

        Returns
        -------
        Means
            Each of the shape of `parameters` without its last dimension, with n at the end.
        """
        ...


class BlackBox:
    """A box of which nothing is known: see :mod:`.box`."""

    parameters = PARAMETERS
    own_error = 0.0

    def means(self, parameters: Array, loads: Columns) -> Means:
        """See :meth:`Model.means`."""
        return means(parameters, loads)


BLACK_BOX = BlackBox()
