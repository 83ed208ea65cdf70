"""Files that are replaced as a whole, text of any encoding, and how an extra is installed."""

from __future__ import annotations

from ...model.files.atomic_file import part_of, whole_file, write_whole
from ...model.files.extras import how_to_install
from ...model.files.yaml_files import decoded

__all__ = ["decoded", "how_to_install", "part_of", "whole_file", "write_whole"]
