"""Text files that commands write for people to keep: never over another file unasked."""

from __future__ import annotations

import os
from pathlib import Path

from ...model.core.errors import InputError
from .output_files import whole_file


def write_file(path: Path, text: str, force: bool = False, option: str = "--output") -> None:
    """Write a text file; another process sees the old file or all of the new one.

    Parameters
    ----------
    path
        The file.
    text
        What it is to hold.
    force
        Whether a file that is there already is replaced.
    option
        What errors name.

    Raises
    ------
    InputError
        If there is such a file already, or it cannot be written.
    """
    if os.path.lexists(path):
        if not path.is_file():
            raise InputError(option, f"{path} is no regular file", "allowed: a file")
        if not force:
            raise InputError(option, f"{path} exists already", "allowed: another name, or --force")
    with whole_file(path, option) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")
