"""One flash drive, and a load that is short."""

from __future__ import annotations

NVME = """\
name: one NVMe drive
kernel: linux-6.12
machine:
  model: server
  drives: {model: Samsung-PM9A3-3840GB, count: 1}
workload: {kind: load, targets: [disk0], warm_up: 2ms, duration: 10ms}
"""
