"""The C compiler without the warnings that Python was built with: on generated code they only cost time, most of it."""

from __future__ import annotations

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
        super().build_extensions()
