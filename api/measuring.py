"""Measurements of a disk of this machine with fio."""

from __future__ import annotations

from ..calibration.learning.box_jobs import job_file, read_job_file
from ..calibration.measurement.machine import Kernel
from ..calibration.measurement.measure import Job, Measurement, default_folder, describe, find_fio
from ..calibration.measurement.target import Target, find_target, make_file, takes_direct
from ..calibration.text.report import Report

__all__ = [
    "Job",
    "Kernel",
    "Measurement",
    "Report",
    "Target",
    "default_folder",
    "describe",
    "find_fio",
    "find_target",
    "job_file",
    "make_file",
    "read_job_file",
    "takes_direct",
]
