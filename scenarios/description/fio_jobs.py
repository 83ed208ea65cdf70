"""Jobs of fio as a workload: any job file or command line that ``raidsim fio`` takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from ...model.core.errors import InputError
from ...model.files.description import PositiveDuration, Size, Spec, refusal
from ...model.programs.fio.command_line import is_command_line, job_file
from ...model.programs.fio.options import check_simulated
from ...model.programs.fio.sections import Section, sections
from ...model.readahead import PAGE

DEVICE = "/dev/"
_NO_MACHINE = {"pagesize": PAGE, "mb_memory": 1, "ncpus": 1}
"""Values of a job file's ``$`` words while it is only checked."""


class FioSpec(Spec):
    """fio, with the jobs of a job file."""

    kind: Literal["fio"]

    job: str = Field(min_length=1)
    """The text of the job file, or a command line that begins with ``fio``."""
    target: str | None = None
    """Device for files without a file system, and for devices that the machine does not have (``--target``)."""
    files: dict[str, Size] = Field(default_factory=dict)
    """Files that are there before, and their sizes."""
    variables: dict[str, str] = Field(default_factory=dict)
    """Values of ``${NAME}`` in the job, which fio takes from the shell."""
    at_most: PositiveDuration | None = None
    """Every job ends after this time of its statistics, and its ramp takes no longer (``--at-most``)."""

    @model_validator(mode="after")
    def _runs(self) -> Self:
        try:
            for section in self.sections():
                check_simulated(section.options)
        except InputError as error:
            found = f"{error.place}: {error.found.removeprefix('found ')}"
            raise refusal(found, error.expected or "expected: what raidsim fio runs", ("job",)) from None
        return self

    def sections(self, keywords: Mapping[str, int] = _NO_MACHINE) -> list[Section]:
        """Its jobs; `keywords` are the values of ``$pagesize``, ``$mb_memory`` and ``$ncpus``."""
        return job_sections(self.job, keywords, self.variables)

    @property
    def targets(self) -> tuple[str, ...]:
        """Devices that its jobs name, each once."""
        named = [*device_names(self.sections()), *([self.target] if self.target else [])]
        return tuple(dict.fromkeys(named))

    def is_random(self, job: str) -> bool:
        """Whether a job accesses its files at random."""
        return any(_value(each, "rw", "read").startswith("rand") for each in self._sections(job))

    def outstanding(self, job: str) -> int:
        """I/Os that a job keeps outstanding at most, all its clones together."""
        sections = self._sections(job)
        return sum(int(_value(each, "numjobs", "1")) * int(_value(each, "iodepth", "1")) for each in sections)

    def _sections(self, job: str) -> list[Section]:
        return [section for section in self.sections() if section.name == job]

    @property
    def job_names(self) -> tuple[str, ...]:
        """Names of its jobs, each once."""
        return tuple(dict.fromkeys(section.name for section in self.sections()))


def job_sections(text: str, keywords: Mapping[str, int], variables: Mapping[str, str]) -> list[Section]:
    """The jobs of a text, which depend on nothing else: no shell, no included files.

    Parameters
    ----------
    text
        A job file or a command line.
    keywords
        Values of ``$pagesize``, ``$mb_memory`` and ``$ncpus``.
    variables
        Values of ``${NAME}``.

    Raises
    ------
    InputError
        If it is not a job that fio takes.
    """
    line = is_command_line(text)
    name = "command line" if line else "job"

    def include(path: str) -> str:
        raise ValueError(path)

    return sections(job_file(text) if line else text, name, variables, include, keywords, numbered=not line)


def _value(section: Section, option: str, default: str) -> str:
    given = section.options.get(option)
    return default if given is None else given.value


def device_names(jobs: list[Section]) -> list[str]:
    """Names of the devices that jobs name as their files."""
    found = []
    for section in jobs:
        option = section.options.get("filename")
        names = [] if option is None else option.value.replace("\\:", "\0").split(":")
        found += [name.removeprefix(DEVICE) for name in names if name.startswith(DEVICE)]
    return found
