"""Sums of floats that every Python on every processor gives to the last bit.

Since Python 3.12 the built-in ``sum`` carries what rounding lost along (Neumaier's compensated summation), so its last
bits are not those of 3.11. numpy's ``@`` is the BLAS library's, which adds in another order on each processor. Floats
are added by these functions, by `math.fsum`, whose result is exact, or by numpy's ``sum``, whose order (pairwise, eight
at a time) is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add

import numpy as np


def sum_in_order(values: Iterable[float]) -> float:
    """The values added from the first to the last, each sum rounded; 0 for none.

    Parameters
    ----------
    values
        Numbers, of which the order matters to the last bits.
    """
    return reduce(add, values, 0)


def sum_of_products(a: np.ndarray, b: np.ndarray) -> float:
    """The scalar product of two vectors, as ``a @ b`` but for the last bits."""
    return float((a * b).sum())
