"""The load that an array must serve, and loads that are there at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from ...model.files.description import Fraction, PositiveSize, Spec, refusal
from ..description.any_workload import NamedLoad
from ..description.load_parts import Arrivals, IoSize, Locality, SectorSize
from ..description.workloads import LoadSpec

TARGET = "md0"
"""What the array of every design is called."""


class RequiredLoad(Spec):
    """The I/Os that come, whatever the array does; fields as in
    :class:`~raidsim.scenarios.description.workloads.LoadSpec`.
    """

    means_as: ClassVar[str] = "raidsim.scenarios.description.workloads:LoadSpec"

    total_iops: float = Field(gt=0, le=1e7)
    """I/Os a second of all jobs together."""
    read_share: Fraction = 1.0
    block_size: IoSize = 4096
    read_size: IoSize | None = None
    write_size: IoSize | None = None
    align: SectorSize | None = None
    pattern: Literal["random", "sequential", "mixed"] = "random"
    sequential_share: Fraction | None = None
    run_length: float | None = Field(default=None, ge=2, le=1e6)
    locality: Locality | None = None
    arrivals: Arrivals | None = None
    jobs: int = Field(default=1, ge=1, le=4096)
    span: PositiveSize | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_all_jobs(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "iops" in data:
            raise refusal(
                "iops, which is of one job in a load", "expected: total_iops, of all jobs together", ("iops",)
            )
        return data

    @model_validator(mode="after")
    def _is_a_load(self) -> Self:
        self.spec()
        return self

    def spec(self, **more: Any) -> LoadSpec:
        """The load on the array of a design, with other fields added or replaced (None: left out)."""
        mine = {**self.model_dump(exclude_none=True), **more}
        fields = {name: value for name, value in mine.items() if value is not None}
        return LoadSpec.model_validate({"kind": "load", "targets": (TARGET,), **fields})

    def document(self, **more: Any) -> dict[str, Any]:
        """The same as a document has it, with units."""
        load = self.spec(**more)
        data = load.model_dump(exclude_unset=True, exclude={"targets"})
        return {name: f"{value!r}s" if name in ("warm_up", "duration") else value for name, value in data.items()}

    @property
    def ops(self) -> tuple[str, ...]:
        """What occurs of "read" and "write"."""
        return tuple(op for op, share in (("read", self.read_share), ("write", 1.0 - self.read_share)) if share > 0)


def _on_the_array(value: Any) -> Any:
    """A load without targets goes to the array."""
    return {"targets": [TARGET], **value} if isinstance(value, Mapping) else value


BesideLoad = Annotated[NamedLoad, BeforeValidator(_on_the_array)]
"""A load that is there at the same time."""
