"""The page on fio: its lists of options are made from the data file."""

from __future__ import annotations

import re

from raidsim.model.programs.fio.options import option_table
from raidsim.tests.manual_pages import DOCS
from raidsim.tests.test_theory import from_code


def test_the_page_lists_every_option_and_engine_once() -> None:
    """Protects readers from an option of which the page does not say what becomes of it."""
    assert "```{fio-options}" in (DOCS / "fio.md").read_text(encoding="utf-8")
    options = option_table()
    made = from_code()
    tables = made.fio_tables()
    listed = {kind: [n for names, _ in rows for n in re.findall(r"`([^`]+)`", names)] for kind, rows in tables.items()}
    assert listed["simulated"] == list(options.simulated)
    engines = [name for name, kind in options.engines.items() if kind not in made.MODELED_ENGINES]
    wanted = [*options.simulated, *options.accepted, *options.verifying, *options.refused, *engines]
    assert sorted(name for names in listed.values() for name in names) == sorted(wanted)
    assert all(why for kind, rows in tables.items() if kind != "simulated" for _, why in rows)
