"""Laws that hold for every machine, and the hunt for scenarios that break one."""

from __future__ import annotations

from ..model.files.atomic_file import write_whole
from ..validation.laws.broken import Broken, open_kinds
from ..validation.laws.hunting.hunt import Hunt, Tally
from ..validation.laws.laws import LAWS, laws_named

__all__ = ["LAWS", "Broken", "Hunt", "Tally", "laws_named", "open_kinds", "write_whole"]
