"""Power of drives in words."""

from __future__ import annotations

from ...scenarios.running.base.power import DrivePower
from ..answer.numbers import watts


def power_line(power: DrivePower) -> str | None:
    """Power of a machine's drives under a load, or the models without figures; None if there is a figure for none."""
    if power.watts is not None and power.kwh_a_year is not None:
        idle, active = power.idle_watts, power.active_watts
        span = "unknown" if idle is None or active is None else f"{watts(idle)} idle, {watts(active)} busy"
        drives = "drive" if power.drives == 1 else f"{power.drives} drives"
        return f"power of the {drives}: {watts(power.watts)} at this load ({span}), {power.kwh_a_year:,.0f} kWh a year"
    return f"power: {no_figure(power.unknown)}" if power.unknown and not power.all_unknown else None


def no_figure(models: tuple[str, ...]) -> str:
    """What is missing, and where it can be given."""
    return f"not known for {', '.join(models)} (set power_idle and power_active in overrides of the drives)"
