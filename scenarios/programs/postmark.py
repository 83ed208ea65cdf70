"""PostMark."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from ...model.core.exact_sums import sum_in_order
from ...model.files.description import PositiveSize
from .step import TIMES, Access, Dimension, Figures, Job, Ran, Setting, Step

if TYPE_CHECKING:
    from ...model.process.process import Phase
    from ...model.programs.postmark import PostMark, PostMarkSettings

_PHASES = ("create", "transactions", "delete", "end")
_ACCESSES: Mapping[str, Access] = MappingProxyType(
    {"create": "files, writing", "delete": "files, creating and deleting"}
)
"""Everything else of it is transactions for the most part."""
_MOST_SCALE = 8.0


class PostMarkStep(Step):
    """PostMark 1.5; the names are those of its ``set`` command."""

    means_as: ClassVar[str] = "raidsim.model.programs.postmark:PostMarkSettings"

    figures: ClassVar[Mapping[str, Dimension]] = MappingProxyType(
        {
            **TIMES,
            **{f"{phase}_seconds": "s" for phase in ("create", "transactions", "delete")},
            "read_rate": "bytes/s",
            "write_rate": "bytes/s",
            "transactions_rate": "1/s",
        }
    )

    most_scale: ClassVar[float] = _MOST_SCALE
    """With fewer files the metadata of all of them stay in memory, which those of the whole pool do not."""

    program: Literal["postmark"]
    number: int = Field(default=500, ge=1)
    transactions: int = Field(default=500, ge=10)
    low: PositiveSize = 500
    high: PositiveSize = 10000
    read_block: PositiveSize = 512
    write_block: PositiveSize = 512
    buffering: bool = True
    bias_read: int = Field(default=5, ge=-1, le=10)
    bias_create: int = Field(default=5, ge=-1, le=10)
    subdirectories: int = Field(default=0, ge=0)
    seed: int = Field(default=42, ge=1)

    def data_bytes(self, memory_bytes: int) -> int:
        """See :meth:`Step.data_bytes`."""
        return self.number * (self.low + self.high) // 2

    def moved_bytes(self, memory_bytes: int) -> int:
        """See :meth:`Step.moved_bytes`."""
        return (self.number + self.transactions) * (self.low + self.high) // 2

    def access(self, phase: str) -> Access:
        """See :meth:`Step.access`."""
        return _ACCESSES.get(phase, "files, changing")

    def _settings(self, scale: int) -> PostMarkSettings:
        from ...model.programs.postmark import PostMarkSettings

        fields = ("low", "high", "read_block", "write_block", "buffering", "bias_read", "bias_create", "subdirectories")
        return PostMarkSettings(
            number=max(1, self.number // scale),
            transactions=max(10, self.transactions // scale),
            seed=self.seed,
            **{name: getattr(self, name) for name in fields},
        )

    def _whole(self) -> PostMark:
        """The program at full size, when it is through: what it counts is known without a simulation."""
        return _through(self._settings(1))

    def job(self, setting: Setting) -> tuple[Job, Figures]:
        """See :meth:`Step.job`."""
        from ...model.programs.postmark import PostMark

        def figures(phases: list[Phase]) -> dict[str, float]:
            # A part of the files and transactions reads and appends another share of its bytes than the whole program.
            whole = self._whole()
            timed = {phase.name: phase.seconds * setting.scale for phase in phases}
            seconds = sum_in_order(timed[name] for name in ("create", "transactions", "delete"))
            return {
                **{f"{name}_seconds": timed[name] for name in ("create", "transactions", "delete")},
                "transactions_rate": whole.settings.transactions / timed["transactions"],
                "read_rate": float(whole.bytes_read) / seconds,
                "write_rate": float(whole.bytes_written) / seconds,
            }

        return Job(PostMark(self._settings(setting.scale), setting.stdio_bytes).operations()), figures

    def report(self, ran: Ran) -> str:
        """See :meth:`Step.report`."""
        from ...model.programs import postmark_report

        run = self._whole()
        began = {phase.name: phase.began for phase in ran.phases}
        start = began[_PHASES[0]]
        clock = postmark_report.Clock(*(int((began[name] - start) * ran.setting.scale) for name in _PHASES))
        return postmark_report.progress(run) + postmark_report.report(run, clock)


@lru_cache(maxsize=4)
def _through(settings: PostMarkSettings) -> PostMark:
    from ...model.programs.postmark import PostMark

    run = PostMark(settings)
    for _ in run.operations():
        pass
    return run
