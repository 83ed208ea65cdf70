"""A fitted profile: values, standard errors, correlations, and what the fit could not tell apart; saved as YAML."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Self

import numpy as np
import yaml
from pydantic import Field, model_validator

from ...compiled.loader import ROOT
from ...model.core.errors import InputError
from ...model.files.atomic_file import write_whole
from ...model.files.description import Spec, refusal
from ...model.files.description_errors import load_spec
from ..study.study import StudySpec

BOUND_SD = 3.0
"""Parameters stay within as many prior standard deviations."""
UNDETERMINED = 0.9
"""A parameter whose error is more than this share of its prior's is one that the cells say next to nothing of."""
DOES_NOT_FIT = 0.3
"""A fit that leaves a third of the cells that it was made to further off than this (ln) does not fit."""
_AT_BOUND = 0.95
"""How much of the way to a bound is at it: the optimiser stays inside and stops when little is left to gain."""
_KEPT = Path(__file__).parent.parent / "profiles"
_STUDIES = "studies"
"""The folder of studies: each is hashed by its own contents."""
_INTERVALS_ONLY = "discrepancy.yaml"
"""What predictions came to: it follows from fits, and no fit from it."""

_ONLY_TOLD = {"title", "report", "source", "missing", "suspects"}
"""Parts of a study that are shown and have no part in any prediction."""


class FittedParameter(Spec):
    """One parameter after the fit."""

    name: str

    factor: float = Field(gt=0)
    """On the study's value."""
    standard_error: float = Field(ge=0)
    """Of ln(factor)."""
    prior_sd: float = Field(gt=0)
    """Of ln(factor), before the fit."""


class Profile(Spec):
    """The result of a calibration."""

    study: str
    fingerprint: str
    data: str
    """What it was fitted to: the study's id, a hash of its contents and of the model's code, and one of the contents
    alone."""
    parameters: tuple[FittedParameter, ...]
    """In the study's order."""
    correlation: tuple[tuple[float, ...], ...]
    """Between the parameters, in the same order."""
    discrepancy: float = Field(ge=0)
    """What 68.3 % of the calibrated cells are off by at most (ln): one standard deviation, were they normal."""
    sensitivities: dict[str, tuple[float, ...]]
    """Per cell: d ln(figure) / d ln(factor) for every parameter, in the same order."""
    spreads: dict[str, float] = Field(default_factory=dict)
    """Per cell without sensitivities: standard deviation of ln(figure) that comes from the parameters."""
    simulations: int
    """How many the fit took."""
    converged: bool
    message: str
    """What the optimizer said."""
    cost: float | None = None
    evaluations: int | None = None
    """Half the sum of squares of all residuals, with outliers counting less, and how many sets of parameters were
    tried. None in a profile of an earlier version."""
    events: int | None = None
    """Of its simulations: what the fit took, whatever the computer. None in a profile of an earlier version."""
    notes: tuple[str, ...] = ()
    """What a reader must know before using it: why it failed, which cells it does not explain, and which parameters
    these do not tell."""

    @model_validator(mode="after")
    def _square(self) -> Self:
        size = len(self.parameters)
        if len(self.correlation) != size or any(len(row) != size for row in self.correlation):
            raise refusal("a correlation matrix of another size", f"expected: {size} by {size}")
        for cell, row in self.sensitivities.items():
            if len(row) != size:
                raise refusal(f"sensitivities.{cell}: {len(row)} numbers", f"expected: {size}")
        return self

    @property
    def factors(self) -> dict[str, float]:
        """Factor by parameter name."""
        return {parameter.name: parameter.factor for parameter in self.parameters}

    @property
    def covariance(self) -> np.ndarray:
        """Of ln(factor)."""
        errors = np.array([parameter.standard_error for parameter in self.parameters])
        return np.array(self.correlation) * np.outer(errors, errors)

    def spread(self, cell: str) -> float:
        """Standard deviation of ln(figure) of a cell that comes from the parameters."""
        if cell in self.spreads:
            return self.spreads[cell]
        row = np.array(self.sensitivities[cell])
        return float(np.sqrt(max(0.0, row @ self.covariance @ row)))

    def inseparable(self, limit: float = 0.9) -> list[tuple[str, str, float]]:
        """Pairs of parameters that the data cannot tell apart: |correlation| above `limit`."""
        names = [parameter.name for parameter in self.parameters]
        return [
            (names[i], names[j], self.correlation[i][j])
            for i in range(len(names))
            for j in range(i)
            if abs(self.correlation[i][j]) > limit
        ]

    def undetermined(self, limit: float = UNDETERMINED) -> list[str]:
        """Parameters of which the data say next to nothing: the error is still most of the prior's."""
        return [p.name for p in self.parameters if p.standard_error > limit * p.prior_sd]

    def at_bounds(self, limit: float = BOUND_SD) -> list[str]:
        """Parameters that the fit has left at a bound, which is `limit` prior standard deviations away."""
        return [p.name for p in self.parameters if abs(np.log(p.factor)) > _AT_BOUND * limit * p.prior_sd]

    def failures(self) -> list[str]:
        """Why the fit should not be used unseen, each with what to do; none if it is sound."""
        lines = []
        if not self.converged:
            todo = "run raidsim calibrate with --starts 5, or with --from and this profile"
            lines.append(f"it stopped before it converged: {self.message}; {todo}")
        if self.discrepancy > DOES_NOT_FIT:
            off = f"a third of the cells that it was made to are off by {100 * self.discrepancy:.0f} % or more"
            lines.append(f"it does not fit: {off}; check the priors and the machine's description")
        bound = f"stopped at a bound, {BOUND_SD:g} prior standard deviations away"
        check = "the machine's description and the measurements"
        return lines + [f"{name} {bound}; check the prior of {name}, {check}" for name in self.at_bounds()]

    def save(self, path: Path) -> None:
        """Write the profile; whatever happens, `path` holds either the old one or the whole new one."""
        text = yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, width=120)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)


def load_profile(path: Path) -> Profile:
    """The profile in a file; `InputError` names file, line and field of what is wrong with it."""
    return load_spec(Profile, path)


def data_folder() -> Path:
    """Where raidsim keeps what is the user's: ``$RAIDSIM_HOME``, or else a folder of its own among the user's data."""
    home = os.environ.get("RAIDSIM_HOME")
    if home:
        folder = Path(home)
    else:
        folder = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "raidsim"
    if folder.exists() and not folder.is_dir():
        raise InputError("RAIDSIM_HOME", f"{folder} is not a folder", "expected: a folder for fitted profiles")
    return folder


def profile_path(study: StudySpec, folder: Path | None = None) -> Path:
    """Where the profile of a study is kept: in a folder, or in the ``profiles`` of :func:`data_folder`."""
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in study.id)
    return (data_folder() / "profiles" if folder is None else folder) / f"{safe}.yaml"


def stored_profile(study: StudySpec, path: Path) -> Profile | None:
    """The profile in a file, if there is one and it was fitted to this study by this version of raidsim.

    Raises
    ------
    InputError
        If the file is no profile.
    """
    if not path.exists():
        return None
    profile = load_profile(path)
    return profile if profile.fingerprint == fingerprint(study) else None


def kept_profile(study: StudySpec) -> Profile | None:
    """The profile that comes with raidsim, if there is one and the study's contents are those it was fitted to.

    It was fitted by the same code, or by an earlier version of it; a new fit says by how much that matters.
    """
    path = _KEPT / f"{study.id}.yaml"
    if not path.exists():
        return None
    profile = load_profile(path)
    return profile if profile.data == data_fingerprint(study) else None


def data_fingerprint(study: StudySpec) -> str:
    """Hash of what a study says that a fit depends on; what it does not say has no part in it, nor a new field."""
    text = study.model_dump_json(exclude={*_ONLY_TOLD, "claims"}, exclude_defaults=True)
    text += "".join(claim.model_dump_json() for claim in study.claims if claim.use == "calibrate")
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def fingerprint(study: StudySpec) -> str:
    """Hash of everything a fit depends on: the study, and the code and data of the model and the scenarios."""
    digest = hashlib.sha256(data_fingerprint(study).encode())
    for folder in ("model", "scenarios", "calibration"):
        for path in sorted((ROOT / folder).rglob("*")):
            data = path.parent.name not in (_STUDIES, _KEPT.name) and path.name != _INTERVALS_ONLY
            if path.suffix == ".py" or (path.suffix == ".yaml" and data):
                digest.update(path.relative_to(ROOT).as_posix().encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:32]
