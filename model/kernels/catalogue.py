"""The catalogue of kernels: one file a kernel, found by its name or by that of a distribution that runs it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator

from ..core.errors import InputError
from ..files.description import refusal
from ..files.description_errors import validate
from ..files.switches import as_switched
from ..files.yaml_files import read_yaml
from .distributions import distributions
from .releases import nearest
from .spec import KernelSpec

_FOLDER = Path(__file__).parent / "catalogue"


def kernel_names() -> list[str]:
    """The kernels in the catalogue."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def kernel(name: str, place: str = "kernel") -> KernelSpec:
    """The kernel called `name` ("linux-2.6.8", "debian12"); its file may say what differs from another one's (`as`).

    Raises
    ------
    InputError
        If there is none; names the nearest.
    """
    return as_switched("kernel", whole_kernel(name, place))


@cache
def whole_kernel(name: str, place: str = "kernel") -> KernelSpec:
    """The same with all mechanisms, whatever is switched off (:mod:`raidsim.model.files.switches`)."""
    known = canonical(name)
    if known is None:
        raise InputError(place, f"unknown kernel {name!r}", choice_of_kernels(name))
    data, positions = read_yaml(_FOLDER / f"{known}.yaml")
    if isinstance(data, dict) and "as" in data:
        data = _completed(data)
    return validate(KernelSpec, data, positions)


def _completed(data: dict[str, Any]) -> dict[str, Any]:
    """The description of a kernel that is given by what differs from another one, `as`; sections are merged."""
    whole: dict[str, Any] = dict(read_yaml(_FOLDER / f"{data['as']}.yaml")[0])
    if "as" in whole:
        whole = _completed(whole)
    for key, value in data.items():
        if key != "as":
            known = whole.get(key)
            whole[key] = {**known, **value} if isinstance(known, dict) and isinstance(value, dict) else value
    return whole


def canonical(name: str) -> str | None:
    """The kernel of the catalogue that a name means, which may be a distribution's; None if there is none."""
    if name in kernel_names():
        return name
    release = distributions().get(name)
    return None if release is None else release.kernel


def choice_of_kernels(name: str) -> str:
    """What may be written instead of an unknown name, as the end of an error message: the nearest, or all there are."""
    family = name.rstrip("0123456789.")
    releases = [other for other in distributions() if other.rstrip("0123456789.") == family]
    if releases:
        return f"expected: {', '.join(releases)}"
    linux = [other for other in kernel_names() if other.startswith("linux-")]
    close = [] if name.startswith("freebsd") else nearest(name, linux)
    if close:
        return f"expected: {' or '.join(close)}, the nearest releases"
    return f"expected: {', '.join(kernel_names())}, or a distribution (debian12, ubuntu22.04, rhel9.4 and the like)"


def _known(name: str) -> str:
    known = canonical(name)
    if known is None:
        raise refusal(f"unknown kernel {name!r}", choice_of_kernels(name))
    return known


KernelName = Annotated[str, AfterValidator(_known)]
"""Name of a kernel in the catalogue; that of a distribution becomes the name of the kernel it stands for."""
