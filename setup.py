"""Builds a wheel of this computer with the compiled modules if RAIDSIM_COMPILED=1; all else is in pyproject.toml.

Without build isolation, since mypyc reads the types of what the model imports:

    pip install '.[compiled]' && RAIDSIM_COMPILED=1 pip wheel --no-deps --no-build-isolation .
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py


class WithCompiled(build_py):
    """Copies the package, and compiles its hot modules from the copy."""

    def run(self) -> None:
        """See setuptools."""
        super().run()
        if not self.editable_mode:
            folder = Path(self.build_lib).absolute()
            settings = os.environ | {"PYTHONPATH": str(folder)}
            subprocess.run([sys.executable, "-m", "raidsim.compiled"], cwd=folder, env=settings, check=True)  # nosec B603


class ForThisComputer(Distribution):
    """A wheel that is not for every Python."""

    def has_ext_modules(self) -> bool:
        """See setuptools."""
        return True


if os.environ.get("RAIDSIM_COMPILED", "0") not in ("", "0"):
    setup(cmdclass={"build_py": WithCompiled}, distclass=ForThisComputer)
else:
    setup()
