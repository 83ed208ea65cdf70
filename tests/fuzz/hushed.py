"""Keep what a library says of each module out of sight, and nothing else."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr


@contextmanager
def hushed(beginning: str) -> Iterator[None]:
    """Hold stderr back meanwhile, then print it without the lines that begin with `beginning`; also after an error."""
    said = io.StringIO()
    try:
        with redirect_stderr(said):
            yield
    finally:
        sys.stderr.writelines(line for line in said.getvalue().splitlines(True) if not line.startswith(beginning))
