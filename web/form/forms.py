"""The form: one design and one load as plain values, made to fit, and the scenario that they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ... import InputError
from ...api.scenario import Scenario, plain_text
from ...model.layouts import LEVELS
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.documents.document import Document, document_from
from .choices import FIELDS, MORE_LOADS, OF_A_LOAD, Offer, Range, offer, rotational, survives_first
from .fields import DEFAULT, LABELS, NONE, USUAL, Form, Value
from .limits import PRECISIONS, duration_for

BITMAP = "64MiB"
"""Bytes per bit of a bitmap that mdadm makes on arrays of today's size."""
ARRAY = "md0"
THINK_TIME = "100ms"
"""Of each of the users that another load may be."""


_IN_TITLE = ("level", "disks", "drive", "spares", "controller", "cipher", "network", "port")
MORE_LOAD_FIELDS = ("loads", *(f"{name}_{which}" for which in MORE_LOADS for name in OF_A_LOAD))
"""What is of the loads at the same time as the first."""
_OTHER_PART = ("parts", "hours", "read_2", "pattern_2", "block_2", "depth_2", "iops_2", "loads_2")
_ONE_PART = ("pattern", "block", "read", "hot", "how", "independent", "depth", "jobs", "iops")
LOAD_FIELDS = (*_ONE_PART, *MORE_LOAD_FIELDS, *_OTHER_PART, "length", "seed", "fail_at")
"""What is the load's and the run's, so that two designs can be compared under the same."""


def changed(form: Form, values: Mapping[str, Any]) -> Form:
    """The form with other values."""
    return replace(form, **values)


def fitted(form: Form) -> tuple[Form, list[str]]:
    """The form with every value that does not go with those before it replaced by the nearest, and what was replaced.

    What means nothing here goes back to its default without a word.
    """
    notes: list[str] = []
    for field in FIELDS:
        offered, value = offer(field, form), getattr(form, field)
        usual = getattr(DEFAULT, field)
        if offered is None:
            form = changed(form, {field: usual})
        elif value not in offered or (isinstance(value, bool) != isinstance(usual, bool)):
            found = _nearest(offered, value, usual)
            form = changed(form, {field: found})
            notes.append(f"{LABELS[field]}: {_shown(value)} is not offered here; {_shown(found)} instead")
    return form, notes


def can_fail(form: Form) -> bool:
    """Whether another member may be lost while the load runs, and the model follows it."""
    return (
        LEVELS[form.level].failures_in_a_run
        and not form.parts
        and form.loads == 1
        and survives_first(form, form.failed + 1)
    )


def first_load(form: Form) -> Form:
    """The form with the first load of the first part of its day alone, all day long."""
    return changed(first_part(form), {field: getattr(DEFAULT, field) for field in MORE_LOAD_FIELDS})


def first_part(form: Form) -> Form:
    """The form with the loads of the first part of its day all day long."""
    return changed(form, {field: getattr(DEFAULT, field) for field in _OTHER_PART})


def other_part(form: Form) -> Form:
    """The form with the loads of the other part of its day all day long: the first one changes, others may pause."""
    later = {name: getattr(form, f"{name}_2") for name in ("read", "pattern", "block", "depth", "iops", "loads")}
    return changed(first_part(form), {**later, "hot": "even" if form.pattern_2 == "sequential" else form.hot})


def _nearest(offered: Offer, value: Value, usual: Value) -> Value:
    """The allowed value that is closest to one that is not."""
    assert offered is not None
    number = isinstance(value, int) and not isinstance(value, bool)
    if isinstance(offered, Range):
        return offered.nearest(value if isinstance(value, int) else int(usual))
    if number and all(isinstance(each, int) and not isinstance(each, bool) for each in offered):
        return min((int(each) for each in offered), key=lambda each: abs(each - int(value)))
    if usual in offered:
        return usual
    first: Value = offered[0]
    return first


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else value[:40]


def with_load_of(design: Form, load: Form) -> Form:
    """A design under the load of another form."""
    return changed(design, {field: getattr(load, field) for field in LOAD_FIELDS})


def scenario_data(form: Form, times: tuple[float, float] | None = None) -> dict[str, Any]:
    """The scenario as a document has it.

    Parameters
    ----------
    form
        A fitted one.
    times
        How long is measured, and simulated before that (s); None: until the speed of each part of the day is known.
    """
    found: dict[str, Any] = {"name": title(form), "kernel": form.kernel}
    found["machine"] = {"model": form.machine, "drives": _drives(form)}
    if form.controller != NONE:
        found["machine"]["controllers"] = {"raid": _controller(form)}
    found["arrays"] = {ARRAY: _array(form)}
    if form.cipher != NONE:
        found["encrypted"] = {"secret": {"on": ARRAY, "cipher": form.cipher}}
    if form.network != NONE:
        found["network"] = _network(form)
    if form.loads > 1:
        found["workloads"] = [{"name": "load1", **_load(form)}, *_more_loads(form)]
        found["workload"] = _times(form, times)
    else:
        found["workload"] = {**_load(form), **_times(form, times)}
    if form.parts:
        first, later = {"name": "first", "lasts": f"{24 - form.hours}h"}, _load_part(other_part(form))
        other = {"name": "other", "lasts": f"{form.hours}h"}
        if form.loads > 1:
            names = [load["name"] for load in found["workloads"]]
            later = {"workloads": [{"name": names[0], **later}, *names[1 : form.loads_2]]}
        found["workload"]["phases"] = [first, {**other, **later}]
    found["seed"] = form.seed
    return found


def _drives(form: Form) -> dict[str, Any]:
    drives: dict[str, Any] = {"model": form.drive, "count": form.disks + form.spares}
    if form.price:
        drives["price"] = form.price
    if not rotational(form):
        drives["state"] = form.drive_state
    elif not form.drive_cache:
        drives["overrides"] = {"write_cache": False}
    if form.scheduler != USUAL:
        drives["scheduler"] = form.scheduler
    if not form.throttle:
        drives["wbt_lat"] = "0s"
    return drives


def _controller(form: Form) -> dict[str, Any]:
    instance: dict[str, Any] = {"model": form.controller}
    if not form.write_back:
        instance["overrides"] = {"write_policy": "write-through"}
    return instance


def _array(form: Form) -> dict[str, Any]:
    array: dict[str, Any] = {"level": form.level}
    sizes = {"chunk": f"{form.chunk}KiB", "groups": form.groups, "copies": form.copies}
    array |= {field: written for field, written in sizes.items() if offer(field, form) is not None}
    if form.algorithm != USUAL:
        array["algorithm"] = form.algorithm
    if form.controller != NONE:
        array["controller"] = "raid"
    if form.spares:
        array["spares"] = form.spares
    if offer("bitmap", form) is not None:
        array["bitmap"] = BITMAP if form.bitmap else NONE
    if form.stripe_cache:
        array["stripe_cache"] = form.stripe_cache
    if form.threads:
        array["group_thread_cnt"] = form.threads
    if form.failed:
        array["rebuilding" if form.rebuilding else "failed"] = form.failed
    return array


def _network(form: Form) -> dict[str, Any]:
    network: dict[str, Any] = {"protocol": form.network, "port": form.port, "clients": form.clients}
    if form.nfsd:
        network["threads"] = form.nfsd
    return network


def _times(form: Form, times: tuple[float, float] | None) -> dict[str, str]:
    if times is None:
        return {"precision": f"{100 * PRECISIONS[form.length]:g}%"}
    duration_s, warm_up_s = times
    return {"warm_up": f"{warm_up_s:g}s", "duration": f"{duration_s:g}s"}


def _load(form: Form) -> dict[str, Any]:
    load: dict[str, Any] = {"kind": "load", "jobs": form.jobs, **_load_part(form)}
    if form.how == "outstanding":
        load["independent"] = form.independent
    if form.hot == "zipf":
        load["locality"] = {"kind": "zipf", "block": "1MiB"}
    return load


def _load_part(form: Form) -> dict[str, Any]:
    """What may change over the day."""
    load: dict[str, Any] = {
        "pattern": form.pattern,
        "block_size": f"{form.block}KiB",
        "read_share": f"{form.read}%",
    }
    if form.how == "rate":
        load["total_iops"] = form.iops
    else:
        load["depth"] = form.depth
    return load


def _more_loads(form: Form) -> list[dict[str, Any]]:
    """The loads at the same time as the first."""
    found = []
    for place, which in enumerate(MORE_LOADS[: form.loads - 1]):
        part: dict[str, Any] = {
            "name": f"load{place + 2}",
            "pattern": getattr(form, f"pattern_{which}"),
            "block_size": f"{getattr(form, f'block_{which}')}KiB",
            "read_share": f"{getattr(form, f'read_{which}')}%",
        }
        how, amount = getattr(form, f"how_{which}"), getattr(form, f"amount_{which}")
        if how == "users":
            part |= {"jobs": amount, "think_time": THINK_TIME}
        else:
            part["total_iops" if how == "rate" else "depth"] = amount
        found.append(part)
    return found


def title(form: Form) -> str:
    """The design in a few words."""
    spares = f" + {form.spares} spare{'s' if form.spares > 1 else ''}" if form.spares else ""
    runs = "" if form.controller == NONE else f" on {form.controller}"
    beyond = "" if form.cipher == NONE else f", encrypted with {form.cipher}"
    beyond += "" if form.network == NONE else f", over {form.network} and {form.port}"
    return f"{level_words(form.level)}, {form.disks} x {form.drive}{spares}{runs}{beyond}"


def difference(form: Form, other: Form) -> str:
    """What is other in the design of a form, besides what its title says."""
    fields_of_design = (field for field in FIELDS if field not in (*LOAD_FIELDS, *_IN_TITLE))
    values = [(field, getattr(form, field)) for field in fields_of_design if offer(field, form) is not None]
    return ", ".join(f"{LABELS[field]}: {_shown(value)}" for field, value in values if value != getattr(other, field))


def load_words(form: Form) -> str:
    """The load in a few words."""
    if form.parts:
        later = f"for {form.hours} h a day {load_words(other_part(form))}"
        return f"{load_words(first_part(form))}; {later}"
    how = f"{form.iops:,} a second" if form.how == "rate" else f"{form.depth * form.jobs:,} outstanding"
    found = [_one_load(form.pattern, form.read, form.block, how)]
    for which in MORE_LOADS[: form.loads - 1]:
        pattern, read, block, kind, amount = (
            getattr(form, f"{name}_{which}") for name in ("pattern", "read", "block", "how", "amount")
        )
        how = f"{amount:,} {'a second' if kind == 'rate' else kind}"
        found.append(_one_load(pattern, read, block, how))
    return "; with ".join(found)


def _one_load(pattern: str, read: int, block: int, how: str) -> str:
    share = {0: "writes", 100: "reads"}.get(read, f"I/Os ({read} % reads)")
    return f"{pattern} {share} of {block} KiB, {how}"


def level_words(level: str) -> str:
    """A level as people write it."""
    return LEVELS[level].label


@dataclass(frozen=True, slots=True)
class Built:
    """What a form, or an uploaded file, comes to.

    Attributes
    ----------
    text
        The scenario file.
    document, spec
        It as it was read, and the whole scenario; None if it was refused.
    refused, field
        Why, and the field of the form next to which it is shown ("" if none).
    """

    text: str
    document: Document | None
    spec: ScenarioSpec | None
    refused: str = ""
    field: str = ""

    @property
    def scenario(self) -> Scenario | None:
        """What the public functions take; None if it was refused."""
        return None if self.document is None or self.spec is None else Scenario.of(self.document)


@lru_cache(maxsize=256)
def built(form: Form, failing: bool = False) -> Built:
    """The scenario of a fitted form, measured until its speed is known.

    With `failing` a member is lost when the form says so, and the run lasts as long as a number of commands takes at
    the most.
    """
    data = scenario_data(form)
    if failing:
        found = built_text(plain_text(data), "design")
        if found.spec is None:
            return found
        duration_s, warm_up_s = times = duration_for(found.spec, form.length)
        data = scenario_data(form, times)
        at = warm_up_s + duration_s * form.fail_at / 100
        data["failures"] = [{"member": f"disk{form.failed}", "at": f"{at:.6g}s"}]
    return built_text(plain_text(data, "Made with the explorer (raidsim web)."), "design")


def built_text(text: str, name: str) -> Built:
    """The scenario of a file's text, from whomever it may be."""
    try:
        document = document_from(text, name)
        return Built(text, document, document.spec())
    except InputError as error:
        return Built(text, None, None, f"{error.found}; {error.expected}", field_of(error.place))


def field_of(place: str) -> str:
    """The field of the form that a refusal belongs to; "" if it is none."""
    last = place.rsplit("field ", 1)[-1].rsplit(".", 1)[-1].strip()
    return _FIELD_OF.get(last, last if last in LABELS else "")


_FIELD_OF = {
    "members": "disks",
    "count": "disks",
    "model": "drive",
    "state": "drive_state",
    "wbt_lat": "throttle",
    "group_thread_cnt": "threads",
    "total_iops": "iops",
    "block_size": "block",
    "read_share": "read",
    "locality": "hot",
    "write_policy": "write_back",
    "protocol": "network",
    "lasts": "hours",
    "duration": "length",
}
