"""A report has the same figures however it was pasted, or is refused."""

from __future__ import annotations

import pytest

from raidsim.calibration.formats.detect import parse
from raidsim.model.core.errors import InputError
from raidsim.tests.calibration.formats import samples
from raidsim.tests.calibration.formats.pastes import PASTES, wrapped

BROKEN = (
    *("fio-text", "fio-text-2", "CrystalDiskMark", "mdstat", "vdbench", "dstat", "DiskSpd"),
    *("zpool-iostat-l", "zpool-iostat-w", "zpool-iostat-r"),
)
Figures = list[tuple[str, float, tuple[tuple[str, str], ...]]]


def figures(text: str) -> Figures | None:
    """Names, values and contexts; None if the report is refused."""
    try:
        return [(each.name, each.value, each.context) for each in parse(text, "x").figures]
    except InputError:
        return None


@pytest.mark.parametrize("name", sorted(samples.ALL))
def test_a_report_has_the_same_figures_however_it_is_pasted(name: str) -> None:
    """Protects from a figure that is lost or changed in silence by a mail, an editor or a terminal."""
    text = samples.ALL[name]
    whole = figures(text)
    one_line = len(text.strip().split("\n")) == 1
    for way, paste in PASTES.items():
        if one_line and "numbered" in way:
            continue  # nothing counts on
        found = figures(paste(text))
        assert found in (whole, None), way
        if "wrapped" not in way:
            assert found == whole, way


@pytest.mark.parametrize("width", [60, 66, 72, 78])
@pytest.mark.parametrize("name", BROKEN)
def test_what_a_mail_breaks_is_put_together_again(name: str, width: int) -> None:
    """Protects fio's text and the others whose lines are longer than a mail's."""
    assert figures(wrapped(samples.ALL[name], width)) == figures(samples.ALL[name])
