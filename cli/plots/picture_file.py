"""`--plot`: a picture in a file, refused before anything long is computed, and written whole."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...model.core.errors import InputError
from ...scenarios.pictures.letters import installed_fallbacks, missing_words
from ...scenarios.pictures.style import FORMS, save, styled
from ..support.output_files import check_output, whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check_picture(path: Path, source: str = "", option: str = "--plot") -> None:
    """Refuse a picture that could not be drawn or written, or that is the `source` of what it is to show.

    Raises
    ------
    InputError
        Naming the option, and what is wrong.
    """
    if path.suffix.lower() not in FORMS:
        raise InputError(option, f"{path} is no picture file", f"allowed: {', '.join(FORMS)}")
    check_output(path, option, source)
    require_matplotlib(option)


def require_matplotlib(option: str) -> None:
    """Refuse an option that needs pictures where there is no matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError(option, "matplotlib is not installed", "allowed: with raidsim's extra `plot`")


def write_picture(path: Path, draw: Callable[[], Figure], option: str = "--plot") -> None:
    """Draw a picture into a file of the kind that its ending says; a note on stderr names letters that no font has."""
    form = path.suffix.lower()
    with whole_file(path, option) as unfinished:
        with styled() as missing:
            save(draw(), unfinished, form)
        if not missing or form == ".svg":  # which has letters, for the fonts of whoever looks at it
            return
        with styled(installed_fallbacks()) as missing:
            save(draw(), unfinished, form)
    if missing:
        print(f"note: {path}: {missing_words(missing)}", file=sys.stderr)
