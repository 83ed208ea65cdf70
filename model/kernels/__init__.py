"""Kernels as data: how each caches, reads ahead, schedules, mirrors and rebuilds.

A kernel is a YAML file in this folder; every section of it names the kernel source its numbers come from.
"""

from __future__ import annotations

from .catalogue import KernelName, canonical, choice_of_kernels, kernel, kernel_names
from .distributions import distributions
from .queue_section import LEAST_REQUESTS, MOST_REQUESTS
from .spec import KernelSpec

__all__ = [
    "LEAST_REQUESTS",
    "MOST_REQUESTS",
    "KernelName",
    "KernelSpec",
    "canonical",
    "choice_of_kernels",
    "distributions",
    "kernel",
    "kernel_names",
]
