"""raidsim predicts how fast a storage array will be before anyone builds it."""

from __future__ import annotations

from .compiled.loader import install as _install

__version__ = "0.1.0"

__all__ = ["__version__"]

_install()
