"""Looks for another minimum than the one that a search has ended in, by moving parameters far, one at a time.

A limit that moves from one part to another, and a drive that misses a revolution because its media are faster than its
cable, make local minima that no short step leaves. Each parameter is moved to a few points over its prior, the others
stay. From each point the slopes at the end predict the best step; for the moved parameter the slopes between the points
are used instead. The best predictions are simulated, and another search may begin at one that is better than the end.
Where a moved parameter costs no more than one inside its interval would, the search has ended at the edge of a plateau:
slopes there know nothing of it, and the errors are widened to hold that point.

This takes about three times as many simulations as taking slopes once, so where slopes of programs are expensive only
runs on raw devices are moved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...model.core.errors import InputError
from ...scenarios.running.base.sample import Sample
from ..simulation.responses import Matrix, Responses, Vector
from .best_step import best_step
from .problem import Problem, cost
from .quantile import NORMAL_QUANTILE
from .search import Optimum
from .slopes import STEP

_PLACES = (-1.2, 0.0, 1.2)
"""In prior standard deviations."""
_NEAR = 0.5
"""A place closer to the end than this is moved on, as far as the places are apart."""
CHANCE = 0.25
"""What chance makes of a cost, by the square root of how many cells have changed."""
_SIMULATED = 3
"""How many of the best predictions are simulated, of those where one parameter moves and of those where all do."""


@dataclass(frozen=True, slots=True)
class Place:
    """A point whose cost is predicted.

    Attributes
    ----------
    theta
        Where it is.
    cost
        What it should cost.
    rows
        Slopes near it, by id of the cells: between the places for the parameter that was moved, those at the end for
        others.
    """

    theta: Vector
    cost: float
    rows: dict[str, Vector]


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at other places has found.

    Attributes
    ----------
    better
        Where another search should begin; None if no place is better than the end by more than chance.
    moved
        Points with one parameter moved, and how much more each costs than the end.
    """

    better: Place | None
    moved: tuple[tuple[Vector, float], ...]


def look_around(problem: Problem, responses: Responses, optimum: Optimum, sample: Sample) -> Look:
    """Move parameters far from where a search has ended, one at a time."""
    at_end, *_ = responses.at([optimum.theta], problem.near, sample)
    if isinstance(at_end, InputError):
        raise at_end
    reached = _cost(problem, at_end, optimum.theta)
    users = responses.users(list(dict.fromkeys(cell.run for cell in problem.near)), STEP, sample)
    alone: list[tuple[Place, float]] = []
    together: list[tuple[Place, float]] = []
    moved: list[tuple[Vector, float]] = []
    parameters = [int(each) for each in np.flatnonzero(np.any(list(users.values()), axis=0))]
    values = {each: _values_of(problem, optimum, each) for each in parameters}
    thetas = [_moved(optimum.theta, each, value) for each in parameters for value in values[each]]
    simulated = iter(responses.at(thetas, problem.near, sample))
    for parameter in parameters:
        chance = CHANCE * math.sqrt(np.count_nonzero([users[cell.run][parameter] for cell in problem.cells]))
        known = {value: next(simulated) for value in values[parameter]}
        by_itself, with_others = _near_places(problem, optimum, at_end, parameter, known)
        moved += [(place.theta, place.cost - reached) for place in by_itself[::2]]
        alone += [(place, chance) for place in by_itself if place.cost < reached - chance]
        together += [(place, chance) for place in with_others if place.cost < reached - chance]
    best = [each for places in (alone, together) for each in sorted(places, key=_promised)[:_SIMULATED]]
    found = []
    again = responses.at([place.theta for place, _ in best], problem.near, sample)
    for (place, chance), logs in zip(best, again, strict=True):
        if not isinstance(logs, InputError) and (least := _cost(problem, logs, place.theta)) < reached - chance:
            found.append(replace(place, cost=least))
    return Look(min(found, key=lambda place: place.cost, default=None), tuple(moved))


def widened(covariance: Matrix, away: Iterable[Vector]) -> Matrix:
    """A covariance that holds some places: each that lies outside its intervals is put on their edge.

    Parameters
    ----------
    covariance
        At the end of a search.
    away
        From there to the places.
    """
    wide = covariance.copy()
    for way in away:
        reach = float(np.max(np.abs(way) / (NORMAL_QUANTILE * np.sqrt(np.diag(wide)))))
        if reach > 1:
            wide = wide + np.outer(way, way) * (1 - 1 / reach**2) / NORMAL_QUANTILE**2
    return wide


def _promised(place: tuple[Place, float]) -> float:
    return place[0].cost


def _near_places(
    problem: Problem,
    optimum: Optimum,
    at_end: Vector,
    parameter: int,
    simulated: Mapping[float, Vector | InputError],
) -> tuple[list[Place], list[Place]]:
    """The best near each place that one parameter is moved to.

    If that parameter moves on alone, each place itself and the best point near it in turn; and if all do. `simulated`
    are the cells at each place, by the parameter's value there.
    """
    here = float(optimum.theta[parameter])
    known = {here: at_end} | {value: logs for value, logs in simulated.items() if not isinstance(logs, InputError)}
    if len(known) < 2:
        return [], []
    along = np.array(sorted(known))
    own = np.gradient(np.array([known[value] for value in along]), along, axis=0)
    one = _moved(np.zeros(len(optimum.theta)), parameter, _NEAR)
    alone, together = [], []
    for value, slopes in zip(along, own, strict=True):
        if value == here:
            continue
        theta = _moved(optimum.theta, parameter, float(value))
        by_id = {cell.id: float(log) for cell, log in zip(problem.near, known[float(value)], strict=True)}
        rows = {
            cell.id: _moved(optimum.slopes[cell.id], parameter, float(slope))
            for cell, slope in zip(problem.near, slopes, strict=True)
        }
        reached = _cost(problem, known[float(value)], theta)
        step, gain = best_step(problem, rows, by_id, theta, one)
        alone += [Place(theta, reached, rows), Place(theta + step, reached - gain, rows)]
        step, gain = best_step(problem, rows, by_id, theta, _NEAR)
        together.append(Place(theta + step, reached - gain, rows))
    return alone, together


def _values_of(problem: Problem, optimum: Optimum, parameter: int) -> list[float]:
    here, sd = float(optimum.theta[parameter]), float(problem.prior_sd[parameter])
    return _values(here, sd, float(problem.bound[parameter]))


def _values(here: float, sd: float, bound: float) -> list[float]:
    """Where a parameter is moved to (ln): to places over its prior, and beyond where it is at one of them already."""
    found = []
    for place in _PLACES:
        value = place * sd
        if abs(value - here) < _NEAR * sd:
            if not place:
                continue
            value = math.copysign(min(abs(2 * value), bound), value)
        found.append(value)
    return found


def _moved(vector: Vector, place: int, value: float) -> Vector:
    changed = vector.copy()
    changed[place] = value
    return changed


def _cost(problem: Problem, logs: Vector, theta: Vector) -> float:
    by_id = {cell.id: float(log) for cell, log in zip(problem.near, logs, strict=True)}
    return cost(problem.residuals(problem.levels(by_id, theta)))
