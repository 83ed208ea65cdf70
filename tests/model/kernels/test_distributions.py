"""Distributions as other names of kernels."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from raidsim.model.core.errors import InputError
from raidsim.model.kernels import KernelName, canonical, distributions, kernel, kernel_names
from raidsim.model.kernels.distributions import of_build


class Named(BaseModel):
    """Something that runs a kernel."""

    kernel: KernelName


def test_every_release_stands_for_a_kernel_of_the_catalogue() -> None:
    """Protects aliases from kernels that are gone, and from being taken for kernels."""
    assert {release.kernel for release in distributions().values()} <= set(kernel_names())
    assert not set(distributions()) & set(kernel_names())


@pytest.mark.parametrize(
    ("name", "stands_for"),
    [
        ("debian10", "linux-4.19"),
        ("debian11", "linux-5.10"),
        ("debian12", "linux-6.1"),
        ("debian13", "linux-6.12"),
        ("ubuntu20.04", "linux-5.4"),
        ("ubuntu22.04", "linux-5.15"),
        ("ubuntu24.04", "linux-6.8"),
        ("rhel7", "linux-3.10"),
        ("rhel8.2", "linux-4.19"),
        ("rhel8.4", "linux-5.10"),
        ("rhel9.4", "linux-5.14"),
        ("rocky9.4", "linux-5.14"),
        ("alma8.10", "linux-5.10"),
    ],
)
def test_a_release_may_be_written_wherever_a_kernel_may(name: str, stands_for: str) -> None:
    """Protects aliases: a release becomes the kernel that it stands for."""
    assert canonical(name) == stands_for
    assert kernel(name) == kernel(stands_for)
    assert Named.model_validate({"kernel": name}).kernel == stands_for


def test_a_rebuild_begins_with_its_first_release() -> None:
    """Protects from releases that there never were: Rocky and Alma begin with 8."""
    assert "rhel7" in distributions()
    assert "rocky8" in distributions()
    assert not {"rocky7", "alma6"} & set(distributions())


@pytest.mark.parametrize("name", ["rhel8.3", "rhel8.4"])
def test_red_hats_8_has_no_single_queue(name: str) -> None:
    """Protects RHEL 8 from the kernel whose number it has: it has multi-queue scheduling only. Counter-test: 4.18."""
    assert not kernel(name).queue.single_queue_drivers
    assert kernel("linux-4.18").queue.single_queue_drivers


@pytest.mark.parametrize("name", [name for name in distributions() if name.startswith(("rhel", "rocky", "alma"))])
def test_what_was_checked_of_red_hats_is_said(name: str) -> None:
    """Protects from aliases that promise more than was looked at: each release says it, or names one that does."""
    assert distributions()[name].note


@pytest.mark.parametrize(
    ("release", "distribution"),
    [
        ("4.18.0-305.el8.x86_64", "rhel8.4"),
        ("4.18.0-305.12.1.el8_4.x86_64", "rhel8.4"),
        ("4.18.0-553.16.1.el8_10.x86_64", "rhel8.10"),
        ("4.18.0-32.el8.x86_64", "rhel8"),
        ("5.14.0-427.13.1.el9_4.x86_64", "rhel9.4"),
        ("3.10.0-1160.el7.x86_64", "rhel7"),
        ("2.6.18-164.el5", None),
        ("5.10.0-8-amd64", None),
    ],
)
def test_a_build_tells_the_distribution(release: str, distribution: str | None) -> None:
    """Protects `uname -r` of RHEL and its rebuilds: the build tells the minor release, 4.18 alone does not."""
    assert of_build(release) == distribution


def test_an_unknown_release_is_answered_with_those_there_are() -> None:
    """Protects from typing errors: the message names the releases of that distribution."""
    with pytest.raises(InputError, match="unknown kernel 'debian9'; expected: debian6, debian10, debian11"):
        kernel("debian9")
    assert canonical("debian9") is None
