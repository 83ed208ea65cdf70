"""The C compiler without the warnings that Python was built with, on all cores.

On generated code warnings only cost time, most of it; setuptools alone compiles one file after the other.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from setuptools.command.build_ext import build_ext

_KEPT = ("-Wl,",)
"""These are for the linker."""


class QuietCompiler(build_ext):  # type: ignore[misc]
    """setuptools' command that builds extensions, for a compiler that prints only errors."""

    def build_extensions(self) -> None:
        """See :meth:`setuptools.command.build_ext.build_ext.build_extensions`."""
        command = getattr(self.compiler, "compiler_so", None)
        if command is not None:  # Unix; Microsoft's is told otherwise
            quiet = [word for word in command if not word.startswith("-W") or word.startswith(_KEPT)]
            self.compiler.compiler_so = quiet
        for extension in self.extensions:
            extension.extra_compile_args = [
                word for word in extension.extra_compile_args if not word.startswith("-W")
            ] + (["-w"] if command is not None else [])
        compile_in_turn = self.compiler.compile

        def compile_side_by_side(sources: Sequence[str], *arguments: Any, **options: Any) -> list[str]:
            with ThreadPoolExecutor(os.cpu_count()) as threads:
                objects = threads.map(lambda source: compile_in_turn([source], *arguments, **options), sources)
                return [name for names in objects for name in names]

        self.compiler.compile = compile_side_by_side
        super().build_extensions()
