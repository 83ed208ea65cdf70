"""Power of drives in words."""

from __future__ import annotations

from collections.abc import Mapping

from ...scenarios.running.base.power import DrivePower
from .numbers import watts


def power_line(power: DrivePower) -> str | None:
    """Power of a machine's drives under a load, or the models without figures; None if there is a figure for none."""
    if power.watts is not None and power.kwh_a_year is not None:
        idle, active = power.idle_watts, power.active_watts
        span = "unknown" if idle is None or active is None else f"{watts(idle)} idle, {watts(active)} busy"
        drives = "drive" if power.drives == 1 else f"{power.drives} drives"
        line = f"power of the {drives}: {watts(power.watts)} at this load ({span}), {power.kwh_a_year:,.0f} kWh a year"
        return line + class_note(power.assumed)
    return f"power: {no_figure(power.unknown)}" if power.unknown and not power.all_unknown else None


def class_note(assumed: Mapping[str, float]) -> str:
    """What says that the power of models is that of their class, and how far from it drives of the class are."""
    return f"; no figure was found {class_words(assumed)}" if assumed else ""


def class_words(assumed: Mapping[str, float]) -> str:
    """Of which models no figure was found, and what is taken; "" if there are none."""
    if not assumed:
        return ""
    return f"of {', '.join(assumed)}: as drives of its class take, within a factor of {max(assumed.values()):g}"


def no_figure(models: tuple[str, ...]) -> str:
    """What is missing, and where it can be given."""
    return f"not known for {', '.join(models)} (set power_idle and power_active in overrides of the drives)"
