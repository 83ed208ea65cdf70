"""What a posterior is over: anything with parameters that says what a box does under loads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from .loads import Array, Columns
from .network import Means


class Parameter(NamedTuple):
    """A number of the box.

    Attributes
    ----------
    name
        In tables.
    median
        Before anything is measured, in `unit`.
    sd
        Standard deviation of its logarithm then.
    unit
        "s", "s/B", or "" for a ratio or a number of servers.
    """

    name: str
    median: float
    sd: float
    unit: str


class Model(Protocol):
    """What a box may be."""

    @property
    def parameters(self) -> Sequence[Parameter]:
        """What is not known of it; before anything is measured, these are independent of each other."""
        ...

    @property
    def error(self) -> tuple[float, float]:
        """How far the model is off besides its parameters, before anything is measured.

        Median of the standard deviation of errors (ln), and how far ln of that deviation spreads (standard deviation).
        """
        ...

    @property
    def own_error(self) -> float:
        """How far `means` is off what the model really gives: standard deviation of logarithms."""
        ...

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
