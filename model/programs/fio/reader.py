"""Reading the options of one job, each with its place for errors."""

from __future__ import annotations

from ...core.errors import InputError
from . import values as fio_values
from .options import Option
from .sections import Section

_MOST = 2**63


class OptionReader:
    """The options of a section by kind of value.

    Parameters
    ----------
    section
        The job.
    """

    def __init__(self, section: Section) -> None:
        self.section = section
        base = self.one_of("kb_base", "1024", ("1024", "1000"))
        self.kb_base = int(base)

    def has(self, key: str) -> bool:
        """Whether it is there."""
        return key in self.section.options

    def option(self, key: str, default: str = "") -> Option:
        """It, or what it is without being there."""
        found = self.section.options.get(key)
        return found if found is not None else Option(default, f"{self.section.place}, job {self.section.name}, {key}")

    def text(self, key: str, default: str = "") -> str:
        """As it stands."""
        return self.option(key, default).value

    def number(self, key: str, default: int, most: int = _MOST, least: int = 0) -> int:
        """A whole number."""
        option = self.option(key)
        if not option.value:
            return default
        value = fio_values.number(option.value, option.place, most, self.kb_base)
        if value < least:
            raise InputError(option.place, f"found {option.value!r}", f"expected: {least} or more")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """On or off."""
        option = self.section.options.get(key)
        return fio_values.flag(option.value, option.place) if option is not None else default

    def size(self, key: str, whole: int = 0) -> int:
        """Bytes; 0 if it is not there."""
        option = self.option(key)
        return fio_values.size(option.value, option.place, whole, self.kb_base) if option.value else 0

    def seconds(self, key: str, unit: str = "s") -> float:
        """A time; 0 if it is not there."""
        option = self.option(key)
        return fio_values.seconds(option.value, option.place, unit) if option.value else 0.0

    def one_of(self, key: str, default: str, allowed: tuple[str, ...]) -> str:
        """One of some words."""
        text = self.text(key, default)
        if text not in allowed:
            raise self.refusal(key, ", ".join(allowed))
        return text

    def rates(self, key: str) -> tuple[int, int, int]:
        """For reads, writes and trims; 0 where there is none."""
        option = self.option(key)
        if not option.value:
            return 0, 0, 0
        reads, writes, trims = (
            fio_values.size(part, option.place, 0, self.kb_base)
            for part in fio_values.per_direction(option.value, default="0")
        )
        return reads, writes, trims

    def refusal(self, key: str, allowed: str) -> InputError:
        """What says that it means nothing."""
        option = self.option(key)
        return InputError(option.place, f"found {option.value[:80]!r}", f"expected: {allowed}")
