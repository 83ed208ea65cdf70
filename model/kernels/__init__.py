"""Kernels as data: how each caches, reads ahead, schedules, mirrors and rebuilds.

A kernel is a YAML file beside this module; every section of it names the kernel source its numbers come from.
"""

from __future__ import annotations

from .spec import LEAST_REQUESTS, MOST_REQUESTS, KernelName, KernelSpec, SchedulerName, kernel, kernel_names

__all__ = [
    "LEAST_REQUESTS",
    "MOST_REQUESTS",
    "KernelName",
    "KernelSpec",
    "SchedulerName",
    "kernel",
    "kernel_names",
]
