"""The zero of a function of one variable, by Brent's method.

R. P. Brent, Algorithms for Minimization without Derivatives, 1973, chapter 4: inverse quadratic interpolation or the
secant where that goes well, and bisection where it does not. The steps are those of scipy.optimize.brentq, to the last
bit; importing that takes longer than most simulations.
"""

from __future__ import annotations

from collections.abc import Callable

from .errors import ModelError

_MOST_STEPS = 100


def find_zero(function: Callable[[float], float], low: float, high: float, absolute: float, relative: float) -> float:
    """Where `function` is zero between `low` and `high`, at which its signs differ.

    Parameters
    ----------
    function
        Continuous.
    low, high
        The bracket.
    absolute, relative
        How close (of the variable).
    """
    before, at = low, high
    f_before, f_at = function(before), function(at)
    if f_before == 0.0:
        return before
    if f_at == 0.0:
        return at
    if (f_before < 0.0) == (f_at < 0.0):
        raise ModelError(f"no change of sign between {low:g} and {high:g}")
    other = f_other = last_step = step = 0.0
    for _ in range(_MOST_STEPS):
        if (f_before < 0.0) != (f_at < 0.0):
            other, f_other = before, f_before
            last_step = step = at - before
        if abs(f_other) < abs(f_at):
            before, at, other = at, other, at
            f_before, f_at, f_other = f_at, f_other, f_at
        close = (absolute + relative * abs(at)) / 2
        half = (other - at) / 2
        if f_at == 0.0 or abs(half) < close:
            return at
        last_step, step = _steps(before, at, other, (f_before, f_at, f_other), last_step, step, half, close)
        before, f_before = at, f_at
        if abs(step) > close:
            at += step
        else:
            at += close if half > 0 else -close
        f_at = function(at)
    return at


def _steps(
    before: float,
    at: float,
    other: float,
    values: tuple[float, float, float],
    last_step: float,
    step: float,
    half: float,
    close: float,
) -> tuple[float, float]:
    """The last step and the next one: interpolated if that is short enough, or half of the bracket."""
    f_before, f_at, f_other = values
    if abs(last_step) > close and abs(f_at) < abs(f_before):
        if before == other:
            tried = -f_at * (at - before) / (f_at - f_before)
        else:
            towards = (f_before - f_at) / (before - at)
            away = (f_other - f_at) / (other - at)
            tried = -f_at * (f_other * away - f_before * towards) / (away * towards * (f_other - f_before))
        if 2 * abs(tried) < min(abs(last_step), 3 * abs(half) - close):
            return step, tried
    return half, half
