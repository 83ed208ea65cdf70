"""Power of drives in words."""

from __future__ import annotations

from ...scenarios.running.base.power import DrivePower


def power_line(power: DrivePower) -> str | None:
    """Power of a machine's drives under a load, or the models without figures; None if there is a figure for none."""
    if power.watts is not None and power.kwh_a_year is not None:
        return (
            f"power of the {counted(power.drives)}: {watts_words(power.watts)} at this load ({span_words(power)}), "
            f"{power.kwh_a_year:,.0f} kWh a year"
        )
    return f"power: {no_figure(power.unknown)}" if power.unknown and not power.all_unknown else None


def counted(drives: int) -> str:
    """Number of drives in words."""
    return "drive" if drives == 1 else f"{drives} drives"


def span_words(power: DrivePower) -> str:
    """Power with all drives idle and with all busy."""
    idle, active = power.idle_watts, power.active_watts
    if idle is None or active is None:
        return "unknown"
    return f"{watts_words(idle)} idle, {watts_words(active)} busy"


def watts_words(watts: float) -> str:
    """A power with three digits."""
    return f"{watts:,.0f} W" if watts >= 100 else f"{watts:.3g} W"


def no_figure(models: tuple[str, ...]) -> str:
    """What is missing, and where it can be given."""
    return f"not known for {', '.join(models)} (set power_idle and power_active in overrides of the drives)"
