"""What a scenario may set of gmirror's policies; apart from them because they are compiled."""

from __future__ import annotations

from collections.abc import Sequence

from ...files.description import PositiveSize, refusal
from .options import BalanceOptions


class SplitOptions(BalanceOptions):
    """Of "gmirror-split"."""

    slice: PositiveSize = 4096
    """The longest read that is not cut."""


class PreferOptions(BalanceOptions):
    """Of "gmirror-prefer"."""

    prefer: str | None = None
    """The member that is read from; the first unless given."""

    def check(self, mirrors: Sequence[Sequence[str]]) -> None:
        """Refuse what is no member of a mirror."""
        known = [name for mirror in mirrors for name in mirror]
        if self.prefer is not None and self.prefer not in known:
            allowed = f"expected: {', '.join(known) or 'a mirror of drives'}"
            raise refusal(f"prefer: {self.prefer} is not a member", allowed, ("balance", "prefer"))
