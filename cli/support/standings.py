"""The ranking so far on a terminal, while `raidsim advise` works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from ...api.advice import Standings
from ...api.tables.parts.standings import standings_table
from .terminal import table

_PER_SECOND = 4.0


@contextmanager
def live_standings(console: Console) -> Iterator[Callable[[Standings], None]]:
    """Show the ranking on `console` as long as the block runs; yields what takes every new one."""
    with Live(console=console, refresh_per_second=_PER_SECOND, transient=True) as live:
        yield lambda standings: live.update(drawn(standings), refresh=True)


def drawn(standings: Standings) -> Group:
    """The ranking as the terminal shows it."""
    found, below = standings_table(standings)
    return Group(Text(found.title), table(found), Text(below))
