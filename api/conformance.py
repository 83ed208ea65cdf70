"""The model compared with recorded behavior of real programs."""

from __future__ import annotations

from ..validation.conformance.kinds import KINDS
from ..validation.conformance.run import check_kind, document, files_not_checked, kinds_to_run
from ..validation.conformance.truth_files import DEFAULT_TRUTH, load_truth

__all__ = [
    "DEFAULT_TRUTH",
    "KINDS",
    "check_kind",
    "document",
    "files_not_checked",
    "kinds_to_run",
    "load_truth",
]
