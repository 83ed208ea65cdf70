"""What comes with raidsim, as tables."""

from __future__ import annotations

from ..calibration.study.study import load_study, study_names
from ..model.disk.spec import DriveSpec
from ..model.drives.catalogue import drive, drive_aliases, drive_name, drive_names, drive_sources, named_drive
from ..model.drives.search import drive_class
from ..scenarios.traces.reading import open_trace
from ..validation.drives.check import check
from ..validation.prediction.data_sheets import compare, data_sheets, synced_write
from .base import Table

__all__ = [
    "DriveSpec",
    "check",
    "compare",
    "data_sheets",
    "drive_name",
    "drives",
    "named_drive",
    "open_trace",
    "studies",
    "synced_write",
]


def drives(name: str | None = None) -> Table:
    """List the drives of the catalogue, or the numbers of one of them.

    Parameters
    ----------
    name
        A drive by name, alias or model number. Default: all drives.

    Returns
    -------
    Table
        A row for each drive; of one drive a row for each of its numbers, with the source.

    Raises
    ------
    InputError
        If there is no such drive; the message names the nearest.

    Examples
    --------
    >>> import raidsim
    >>> raidsim.drives("wd5000aaks")[0]["field"]
    'model'
    """
    if name is not None:
        rows = [
            {"field": field, "value": each.value, "source": each.source or f"assumed: {each.assumed}"}
            for field, each in drive_sources(name).items()
        ]
        return Table(drive(name).model, rows)
    specs = {known: drive(known) for known in drive_names()}
    return Table(
        "drives",
        [
            {
                "name": known,
                "class": drive_class(spec),
                "capacity": spec.capacity,
                "interface": spec.interface,
                "rotational": spec.rotational,
                "rotation": spec.rotation if isinstance(spec, DriveSpec) else None,
                "aliases": ", ".join(drive_aliases(known)),
            }
            for known, spec in specs.items()
        ],
    )


def studies() -> Table:
    """List the published reports that raidsim is compared with.

    Returns
    -------
    Table
        A row for each study: its name, title, author, and how many figures are fitted to or predicted.
    """
    rows = []
    for name in study_names():
        study = load_study(name)
        calibrated = len(study.calibrate_cells)
        rows.append(
            {
                "name": study.id,
                "title": study.title,
                "report": study.report,
                "author": study.source.author,
                "date": study.source.date,
                "calibrate": calibrated,
                "predict": len(study.all_cells) - calibrated,
            }
        )
    return Table("studies", rows)
