"""What a page shows is what came out when it was built: commands and short programs are run, with their pictures.

Two directives. `raidsim` has commands, each on a line that begins with "$ raidsim", and shows each with what it prints.
`raidsim-python` has a program, and shows it with what it prints. Options of both:

`picture`
    A file that they write; it is shown below. It needs `alt`, what it shows in words, and may have a `caption`.
`quiet`
    Show what is run without what it prints.
`exit`
    The status that the last command ends with, 0 unless given. With another one the build fails.

All runs in the checkout's root as a reader would run it, in a terminal of 100 columns; files are written elsewhere.
What was run before with the same code and files is not run again (`_build/shown_runs`).
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

import raidsim
from raidsim.cli.commands import compare, layout, run  # noqa: F401 - loaded once, for all that is run
from raidsim.cli.main import main
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.timeline.timeline import record

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(raidsim.__file__).parent
DONE = ROOT / "docs" / "_build" / "shown_runs"
_CODE = ("model", "scenarios", "calibration", "cli")
_FILES = re.compile(r"docs/[\w./-]+\.\w+")
_COLUMNS = "100"


def code_version() -> str:
    """Hash of everything in the package that could change what is shown."""
    digest = hashlib.sha256(f"{sys.version} {matplotlib.__version__}".encode())
    for folder in _CODE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".yaml"):
                digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


@cache
def _loaded() -> None:
    """Read catalogues and load what is loaded on first use, once for all that is run."""
    matplotlib.pyplot.close(matplotlib.pyplot.figure())
    tiny = "{machine: {drives: {count: 1}}, workload: {kind: load, warm_up: 1ms, duration: 100ms}}"
    record(document_from(tiny).spec(), ios=1)


def captured(work: Callable[[], object], folder: Path) -> tuple[str, int]:
    """What `work` prints, and its exit status, in a process of its own that has `folder` as current one.

    The process is forked, since starting Python and loading the package takes longer than most of what is shown.
    """
    _loaded()
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.dup2(printed.fileno(), 1)
                os.dup2(printed.fileno(), 2)
                sys.stdout = open(1, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
                sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
                os.chdir(folder)
                os.environ["COLUMNS"] = _COLUMNS
                gc.freeze()  # what Sphinx holds is not to be looked through again and again
                work()
                status = 0
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else int(end.code is not None)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        printed.seek(0)
        return printed.read().decode(), os.waitstatus_to_exitcode(ended)


def commands(text: str) -> list[str]:
    """The commands of a body, each of which may go on after a backslash at the end of a line."""
    found = re.findall(r"^\$ raidsim ((?:\\\n|.)*)", text, re.MULTILINE)
    if not found or "\n".join(f"$ raidsim {command}" for command in found) != text:
        raise ValueError('each line must begin with "$ raidsim ", or end the one before')
    return found


class ShownRun(SphinxDirective, ABC):
    """Runs its content when the page is built, and shows both."""

    has_content = True
    option_spec = {  # noqa: RUF012 - as docutils has it
        "picture": directives.path,
        "alt": directives.unchanged_required,
        "caption": directives.unchanged_required,
        "exit": directives.nonnegative_int,
        "quiet": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content).strip()
        if ("picture" in self.options) != ("alt" in self.options):
            raise self.error("a picture needs :alt:, what it shows in words")
        for name in _FILES.findall(text):
            self.env.note_dependency(str(ROOT / name))
        try:
            done = self._done(text)
        except ValueError as error:
            raise self.error(str(error)) from None
        shown = json.loads((done / "shown.json").read_text(encoding="utf-8"))
        if shown["status"] != self.options.get("exit", 0):
            raise self.error(f"ended with status {shown['status']}:\n{text}\n{shown['text']}")
        blocks: list[nodes.Node] = []
        texts = [""] * len(shown["texts"]) if "quiet" in self.options else shown["texts"]
        for language, code in self._blocks(text, texts):
            block = nodes.literal_block(code, code, language=language, classes=["shown-run"])
            self.set_source_info(block)
            blocks.append(block)
        return blocks + self._picture(done)

    def _done(self, text: str) -> Path:
        """The folder with what came out; from an earlier build if nothing has changed since."""
        picture = self.options.get("picture", "")
        digest = hashlib.sha256(f"{self.config.shown_runs_code} {self.name} {picture}\n{text}".encode())
        for name in sorted(set(_FILES.findall(text))):
            digest.update((ROOT / name).read_bytes())
        kept = DONE / self.config.shown_runs_code[:12]
        done = kept / digest.hexdigest()[:24]
        if done.is_dir():
            return done
        kept.mkdir(parents=True, exist_ok=True)
        for other in DONE.iterdir():
            if other != kept:
                shutil.rmtree(other, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(dir=kept))
        try:
            (folder / "docs").symlink_to(ROOT / "docs")
            texts, status = self._outcome(text, folder)
            (folder / "docs").unlink()
            shown = {"texts": texts, "status": status, "text": "\n".join(texts)}
            if status == self.options.get("exit", 0) and picture and not (folder / picture).is_file():
                raise self.error(f"no picture {picture} was written:\n{text}\n{shown['text']}")
            (folder / "shown.json").write_text(json.dumps(shown), encoding="utf-8")
            with suppress(OSError):  # another build has just made it
                folder.rename(done)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return done

    @abstractmethod
    def _outcome(self, text: str, folder: Path) -> tuple[list[str], int]:
        """Run the content in a folder: what it printed, piece by piece, and its exit status."""

    @abstractmethod
    def _blocks(self, text: str, texts: list[str]) -> list[tuple[str, str]]:
        """What is shown of it."""

    def _picture(self, done: Path) -> list[nodes.Node]:
        if "picture" not in self.options:
            return []
        page = Path(self.env.doc2path(self.env.docname)).parent
        uri = os.path.relpath(done / self.options["picture"], page)
        figure = nodes.figure("", nodes.image(uri=uri, alt=self.options["alt"]), classes=["shown-picture"])
        if "caption" in self.options:
            words, messages = self.parse_inline(self.options["caption"])
            figure += [nodes.caption("", "", *words), *messages]
        self.set_source_info(figure)
        return [figure]


class ShownCommands(ShownRun):
    """`raidsim`: commands, each with what it prints."""

    def _outcome(self, text: str, folder: Path) -> tuple[list[str], int]:
        texts, status = [], 0
        for command in commands(text):
            arguments = shlex.split(command.replace("\\\n", ""))
            printed, status = captured(lambda given=arguments: main(given), folder)
            texts.append("\n".join(line.rstrip() for line in printed.strip("\n").splitlines()))
        return texts, status

    def _blocks(self, text: str, texts: list[str]) -> list[tuple[str, str]]:
        shown = [f"$ raidsim {command}\n{printed}" for command, printed in zip(commands(text), texts, strict=True)]
        return [("console", "\n\n".join(each.rstrip("\n") for each in shown))]


class ShownProgram(ShownRun):
    """`raidsim-python`: a program, and what it prints."""

    def _outcome(self, text: str, folder: Path) -> tuple[list[str], int]:
        program = compile(text, self.env.docname, "exec")
        # Of the manual's own pages, when the manual is built.
        printed, status = captured(lambda: exec(program, {"__name__": "__main__"}), folder)  # nosec B102
        return [printed.strip("\n")], status

    def _blocks(self, text: str, texts: list[str]) -> list[tuple[str, str]]:
        return [("python", text), *(("text", printed) for printed in texts if printed)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directives known; pages are read anew when the package's code has changed."""
    app.add_directive("raidsim", ShownCommands)
    app.add_directive("raidsim-python", ShownProgram)
    app.add_config_value("shown_runs_code", code_version(), "env")
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
