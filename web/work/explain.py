"""Which mechanism costs what: the design with one mechanism at a time switched off, and the difference in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from ...api.answer.units import format_duration
from ...api.scenario import Scenario
from ...api.support.explorer import Prediction
from ...model.controller.catalogue import controller
from ...model.disk.spec import DriveSpec
from ...model.layouts import LEVELS
from ..form.choices import known_drive, offer, rotational
from ..form.fields import NONE, Form
from ..form.forms import BITMAP, built, changed, fitted

MOST_VARIANTS = 8
SAME = 0.02
"""A smaller difference than this share is none worth a word, whatever the intervals say."""


WHY = {
    "parity": (
        "A small write changes the data and the parity: both are read before they are written (four commands for one "
        "with one parity, six with two), or the rest of the stripe is read instead."
    ),
    "mirroring": (
        "Every write goes to all copies, and every read may choose one: copies cost writes and can help reads."
    ),
    "the lost disk": "What a lost disk held is read from its copy, or computed from all others of its stripe.",
    "positioning": "The arm moves to a random place and waits for the sector to come round; in order, it does neither.",
    "queueing": (
        "With many I/Os outstanding the disks work side by side and choose the nearest place next; each I/O waits for "
        "others in turn."
    ),
    "the drives' write cache": (
        "A drive with a write cache answers before the data are on the platter, and sorts what it writes later."
    ),
    "the controller's write-back cache": (
        "With write-back the controller answers from its memory, and gathers neighbours to whole stripes."
    ),
    "write-back throttling": (
        "The kernel holds back writes of its own (as md's for parity) while reads at the same drive are late."
    ),
    "the write-intent bitmap": (
        "A write to a clean region waits until its bit is on the disks, so that a crash means no full resync."
    ),
    "command queueing in the drives": (
        "A drive that knows many commands serves next what comes under its head first (NCQ, TCQ)."
    ),
    "garbage collection": (
        "A full drive must move valid pages before it can erase a block: every write takes several."
    ),
    "encryption": "A processor encrypts every block that is written, and decrypts every one that is read.",
    "the network": "Every request crosses the network twice, waits for its turn there and for a thread of the server.",
}
"""How mechanisms work, each in a sentence or two."""


class Mechanism(Protocol):
    """What is told of a mechanism that is switched off, whatever the design was made from."""

    @property
    def name(self) -> str:
        """The mechanism."""

    @property
    def without(self) -> str:
        """The design without it, in words."""

    @property
    def why(self) -> str:
        """How it works."""

    @property
    def adds(self) -> bool:
        """If true, the design does not have the mechanism and the variant adds it."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A design without one of its mechanisms.

    Attributes
    ----------
    name
        The mechanism.
    without
        The design without it, in words.
    why
        How the mechanism works, in a sentence.
    form
        The design without it.
    adds
        If true, the design does not have the mechanism and the variant adds it.
    one_command
        A drive may have one command at a time, whatever it could do.
    """

    name: str
    without: str
    why: str
    form: Form
    adds: bool = False
    one_command: bool = False

    def scenario(self) -> Scenario | None:
        """The scenario without the mechanism; None if it cannot be."""
        found = built(self.form).scenario
        if found is None or not self.one_command:
            return found
        return found.with_({"machine.drives.overrides.queue_depth": 1})


def variants(form: Form) -> list[Variant]:
    """The mechanisms of a fitted form that can be switched off, those that usually cost most first."""
    found = [variant for make in _MECHANISMS if (variant := make(form)) is not None]
    return [each for each in found if each.one_command or each.form != form][:MOST_VARIANTS]


def _changed(form: Form, **values: object) -> Form:
    return fitted(changed(form, values))[0]


def _parity(form: Form) -> Variant | None:
    if not LEVELS[form.level].has_parity or (form.controller != NONE and "raid0" not in _levels_of(form)):
        return None
    without = "On RAID 0 of the same disks, which has no parity"
    return Variant("parity", without, WHY["parity"], _as_stripe(form))


def _mirrors(form: Form) -> Variant | None:
    if not LEVELS[form.level].has_mirrors or (form.controller != NONE and "raid0" not in _levels_of(form)):
        return None
    without = "On RAID 0 of the same disks, which has no copies"
    return Variant("mirroring", without, WHY["mirroring"], _as_stripe(form))


def _levels_of(form: Form) -> tuple[str, ...]:
    return controller(form.controller).levels


def _as_stripe(form: Form) -> Form:
    return _changed(form, level="raid0", algorithm="usual", spares=0, failed=0, rebuilding=False)


def _loss(form: Form) -> Variant | None:
    if not form.failed:
        return None
    why = WHY["the lost disk"]
    if form.rebuilding:
        why += " The rebuild reads all disks under the load."
    return Variant("the lost disk", "With all disks at work", why, _changed(form, failed=0, rebuilding=False))


def _positioning(form: Form) -> Variant | None:
    if form.pattern == "sequential" or not rotational(form) or form.loads > 1:
        return None
    return Variant(
        "positioning", "The same I/Os in order", WHY["positioning"], _changed(form, pattern="sequential", hot="even")
    )


def _queueing(form: Form) -> Variant | None:
    if form.how == "rate" or form.depth * form.jobs == 1 or form.loads > 1:
        return None
    return Variant("queueing", "One I/O at a time", WHY["queueing"], _changed(form, depth=1, jobs=1))


def _drive_cache(form: Form) -> Variant | None:
    return _turned(form, "drive_cache", "the drives' write cache", ("With it turned off", "With it turned on"))


def _write_back(form: Form) -> Variant | None:
    return _turned(form, "write_back", "the controller's write-back cache", ("With write-through", "With write-back"))


def _throttling(form: Form) -> Variant | None:
    return _turned(form, "throttle", "write-back throttling", ("With wbt_lat 0", "With the kernel's own wbt_lat"))


def _bitmap(form: Form) -> Variant | None:
    return _turned(form, "bitmap", "the write-intent bitmap", ("Without a bitmap", f"With one ({BITMAP} a bit)"))


def _turned(form: Form, field: str, name: str, words: tuple[str, str]) -> Variant | None:
    """The other position of a switch that writes depend on; `words` say what is done where it is on, and off."""
    if offer(field, form) is None or form.read == 100:
        return None
    on, why = bool(getattr(form, field)), WHY[name]
    name = name if on else name.replace("the write-intent", "a write-intent")
    return Variant(name, words[0] if on else words[1], why, changed(form, {field: not on}), adds=not on)


def _command_queue(form: Form) -> Variant | None:
    spec = known_drive(form.drive)
    if not isinstance(spec, DriveSpec) or spec.queue_depth == 1 or form.pattern == "sequential":
        return None
    name = "command queueing in the drives"
    return Variant(name, "One command at a time", WHY[name], form, one_command=True)


def _flash_state(form: Form) -> Variant | None:
    if rotational(form) or form.drive_state == "fresh" or form.read == 100:
        return None
    why = WHY["garbage collection"]
    return Variant("garbage collection", "With fresh drives", why, replace(form, drive_state="fresh"))


def _encryption(form: Form) -> Variant | None:
    if form.cipher == NONE:
        return None
    return Variant("encryption", "Not encrypted", WHY["encryption"], _changed(form, cipher=NONE))


def _network(form: Form) -> Variant | None:
    if form.network == NONE:
        return None
    without = "With the load on the machine itself"
    return Variant("the network", without, WHY["the network"], _changed(form, network=NONE))


_MECHANISMS: tuple[Callable[[Form], Variant | None], ...] = (
    _parity,
    _mirrors,
    _loss,
    _network,
    _encryption,
    _positioning,
    _flash_state,
    _queueing,
    _write_back,
    _drive_cache,
    _command_queue,
    _throttling,
    _bitmap,
)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a mechanism does to the load.

    Attributes
    ----------
    mechanism, without
        As of :class:`Variant`.
    iops, mean_s
        I/Os a second and mean latency without it.
    change
        I/Os a second without it over those with it, less 1; of a load with its own pace the same of the latency.
    certain
        Whether the difference is larger than the runs' own uncertainty (90 % intervals).
    words
        All that in a sentence or two.
    """

    mechanism: str
    without: str
    iops: float
    mean_s: float
    change: float
    certain: bool
    words: str


def effect(variant: Mechanism, base: Prediction, found: Prediction, is_open: bool) -> Effect:
    """Compare the run without a mechanism with the one with it.

    Parameters
    ----------
    variant
        The mechanism.
    base, found
        What the design gives, and what it gives without it.
    is_open
        The load has its own pace, so that the latency differs.
    """
    before, after = total_iops(base), total_iops(found)
    waits, then = mean_latency(base), mean_latency(found)
    saturated = is_open and (base.saturated or found.saturated)
    by_latency = is_open and not saturated
    change = then / waits - 1 if by_latency else after / before - 1
    name = "mean_seconds" if by_latency else "iops"
    certain = abs(change) > max(SAME, _uncertainty(base, found, name))
    figures = f"{after:,.0f} instead of {before:,.0f} I/Os per second"
    if by_latency:
        figures = f"{format_duration(then)} instead of {format_duration(waits)} for an I/O"
    words = f"{_sentence(variant, change, certain, by_latency)} {variant.without}: {figures}"
    each, without = commands_per_io(base), commands_per_io(found)
    if abs(each - without) > 0.05 * each:
        words += f", {without:.2g} instead of {each:.2g} commands of the drives for each"
    return Effect(variant.name, variant.without, after, then, change, certain, f"{words}. {variant.why}")


def _sentence(variant: Mechanism, change: float, certain: bool, by_latency: bool) -> str:
    """The finding: what the mechanism costs or brings, or would."""
    subject = variant.name[0].upper() + variant.name[1:]
    if not certain:
        verb = "would make" if variant.adds else "makes"
        return f"{subject} {verb} no difference that the runs could tell from chance."
    much = f"{100 * abs(change):,.0f} %"
    what = "mean latency" if by_latency else "throughput"
    if variant.adds:
        return f"{subject} would make the {what} {much} {'higher' if change > 0 else 'lower'}."
    better = change < 0 if by_latency else change > 0
    if not better:
        return f"{subject} pays: without it the {what} is {much} {'higher' if change > 0 else 'lower'}."
    if by_latency:
        return f"{subject} costs time: without it the mean latency is {much} lower."
    return f"{subject} costs {100 * change / (1 + change):.0f} % of the throughput."


def _uncertainty(base: Prediction, found: Prediction, name: str) -> float:
    """Half-width of both intervals together, as a share."""
    widths = [each.estimates[name].relative for each in (base, found) if name in each.estimates]
    return float(sum(width**2 for width in widths) ** 0.5)


def total_iops(prediction: Prediction) -> float:
    """Reads and writes per second."""
    return sum(prediction.iops.values())


def mean_latency(prediction: Prediction) -> float:
    """Mean latency of all I/Os (s); 0 if none was complete."""
    counts = sum(each["n"] for each in prediction.latencies.values())
    total = sum(each["mean_s"] * each["n"] for each in prediction.latencies.values())
    return total / counts if counts else 0.0


def commands_per_io(prediction: Prediction) -> float:
    """Commands of the drives for an I/O of the load."""
    done = total_iops(prediction) * prediction.measured_s
    return prediction.member_ios / done if done else 0.0
