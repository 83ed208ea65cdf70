"""Compiles the hot modules: ``make compiled``, or ``python -m raidsim.compiled``.

mypyc turns type-checked Python into C extensions (needed: mypy, setuptools, a C compiler, Python's headers). The build
compiles a copy of the source, whose digest goes into the record next to the modules, so that an edit meanwhile leaves a
build that is not used rather than one that is wrong. The compiler may not contract a multiplication and an addition
into one rounding: the numbers must be those of the interpreter, bit for bit.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from .loader import BUILT, RECORD, ROOT, digest
from .modules import MODULES

OPTIMIZATION = "1"
"""More takes much longer to compile and is hardly faster to run: what is left to do is calls and memory."""
_FLAGS = ["-DNDEBUG", "-ffp-contract=off"]
_CONFIGURATION = """\
[mypy]
mypy_path = .
plugins = pydantic.mypy
[mypy-scipy.*,yaml.*,raidsim.api.*]
ignore_missing_imports = True
"""


def lacking() -> str:
    """What is missing for a build, in words; nothing if all is there."""
    for module, package in (("mypyc", "mypy"), ("setuptools", "setuptools")):
        if find_spec(module) is None:
            return f"{package} is not installed (pip install 'raidsim[compiled]')"
    if not Path(sysconfig.get_paths()["include"], "Python.h").is_file():
        return "Python.h is not installed (Debian: python3-dev)"
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    compiler = command.split()[0]
    return "" if shutil.which(compiler) else f"there is no C compiler {compiler}"


def build(built: Path = BUILT, modules: Iterable[str] = MODULES) -> int:
    """Compile `modules` into the folder `built`, which is replaced when they all are; returns how many there are.

    Parameters
    ----------
    built
        Where the build goes.
    modules
        Names below ``raidsim``.
    """
    from mypyc.build import mypycify
    from setuptools import Distribution

    from .compiler import QuietCompiler

    with tempfile.TemporaryDirectory(prefix="raidsim-") as name:
        stage = Path(name)
        root = stage / "raidsim"
        for folder in ("model", "compiled"):
            shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
        # The package's own __init__.py names what is not copied.
        (root / "__init__.py").touch()
        shutil.copy(ROOT / "py.typed", root / "py.typed")
        (stage / "mypy.ini").write_text(_CONFIGURATION, encoding="utf-8")
        sources = [f"raidsim/{module.replace('.', '/')}.py" for module in modules]
        with _inside(stage):
            with _shown_if_it_fails():
                extensions = mypycify(
                    ["--config-file", "mypy.ini", "--explicit-package-bases", *sources],
                    opt_level=OPTIMIZATION,
                    debug_level="0",
                    target_dir="c",
                    multi_file=True,
                )
            for extension in extensions:
                extension.extra_compile_args = [*extension.extra_compile_args, *_FLAGS]
            command = QuietCompiler(Distribution({"name": "raidsim", "ext_modules": extensions}))
            command.build_lib, command.build_temp = str(stage / "out"), str(stage / "objects")
            command.finalize_options()
            command.run()
        files = {_module(path.relative_to(stage / "out")): path for path in sorted((stage / "out").rglob("*.*"))}
        unfinished = built.with_name(f"{built.name}.new")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        for module, path in files.items():
            shutil.copy(path, unfinished / f"{module}{EXTENSION_SUFFIXES[0]}")
        record = {
            "digest": digest(root),
            "files": {module: f"{module}{EXTENSION_SUFFIXES[0]}" for module in files},
        }
        (unfinished / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
        replaced = built.with_name(f"{built.name}.old")
        shutil.rmtree(replaced, ignore_errors=True)
        if built.exists():
            built.rename(replaced)
        unfinished.rename(built)
        shutil.rmtree(replaced, ignore_errors=True)
    return len(sources)


def _module(path: Path) -> str:
    """The name that an extension's file, relative to where packages begin, is imported by."""
    return ".".join((*path.parts[:-1], path.name.split(".")[0]))


@contextmanager
def _shown_if_it_fails() -> Iterator[None]:
    """mypyc prints what it is doing to comprehensions, which concerns nobody, and its errors, before it exits."""
    with redirect_stdout(io.StringIO()) as said:
        try:
            yield
        except SystemExit:
            print(said.getvalue(), file=sys.stderr)
            raise


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """mypyc writes its C below the current folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
