"""What is no output, or a damaged one: refused with its place, or read as far as it goes. No traceback, no hang."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidsim.calibration.inspection.chosen import Chosen, Selection
from raidsim.calibration.inspection.inspection import Inspection, Source, inspect, read_source
from raidsim.calibration.inspection.matching.hard_disk import Match
from raidsim.calibration.inspection.refusal import blamed
from raidsim.calibration.inspection.tools.findings import FoundArray, FoundMember
from raidsim.calibration.inspection.tools.outputs import MOST_CHARACTERS, MOST_OUTPUTS
from raidsim.model.core.errors import InputError
from raidsim.tests.calibration.inspection import mdstat_texts
from raidsim.tests.calibration.inspection.machines import ARRAYS, DRIVES, Machine, machines

SAMPLES = Path(__file__).with_name("samples")
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in sorted(SAMPLES.iterdir())}
TEXTS |= {path.name: path.read_text(encoding="utf-8") for path in sorted(SAMPLES.with_name("pasted").glob("*.txt"))}
TEXTS |= {f"mdstat-{name}": mdstat_texts.text(array) for name, array in mdstat_texts.LEVELS.items()}


def made_or_refused(text: str) -> Inspection | None:
    """The scenario of a text; None if it is refused, with a place in the text. Any other error goes on."""
    try:
        return inspect([Source("x", text)], "x", ignore_solid_state=True)
    except InputError as error:
        refused = error
    assert re.match(r"x(:\d+){0,2}$", refused.place), refused
    assert "field " not in str(refused), refused
    return None


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("mdadm-detail.txt", ("11720659968", "many"), r"x:5:22: found 'many'; expected: a whole number"),
        ("mdadm-detail.txt", ("512K", "half a page"), r"x:21:22: found 'half'; expected: a size such as 64K"),
        ("mdadm-detail.txt", ("Raid Devices : 5", "Raid Devices : 3"), r"x:7:22: found '3'; expected: 5 at least"),
        ("mdadm-detail.txt", ("Raid Devices : 5", "Raid Devices : 5000000"), r"expected: a whole number of 0 to 1024"),
        ("megacli-ld.txt", ("Primary-1", "Primary-7"), r"x:6:23: found 'Primary-7.*expected: Primary-0, -1, -5 or -6"),
        ("megacli-adapter.txt", ("Adapter #0", "Adapter #9999"), r"x:2:1: found '9999'"),
        ("megacli-ld.txt", ("Span Depth          : 1", "Span Depth          : 0"), r"a whole number of 1 to"),
        ("megacli-ld.txt", ("64 KB", "64 kilo"), r"x:11:23: found '64 kilo'"),
        (
            "megacli-ld.txt",
            ("Drives    : 4", "Drives    : 4000"),
            r"found '4000'; expected: a whole number of 1 to 255",
        ),
        ("storcli-volumes.json", ('Span Depth": 2', 'Span Depth": 256'), r"expected: a whole number of 1 to 255"),
        ("storcli-volumes.json", ('Per Span": 3', 'Per Span": 4000'), r"expected: a whole number of 1 to 255"),
        (
            "smartctl-sata.json",
            ('"rotation_rate": 5400', '"rotation_rate": -5'),
            r"found '-5'; expected: a whole number",
        ),
        ("smartctl-sata.json", ('"rotation_rate": 5400', '"rotation_rate": 99999'), r"a whole number of 0 to 30000"),
        ("smartctl-sata.json", ('"name": "/dev/sda",', ""), r"expected: an object with device.name"),
        ("smartctl-sata.json", ("4000787030016", "4000787030016.5"), r"found '4000787030016.5'"),
        ("storcli-volumes.json", ('"64 KB"', '"64 KB'), r"x:\d+:\d+: found a text without an end"),
        ("storcli-controller.json", ('"DG/VD": "0/0"', '"DG/VD": "none"'), r"a virtual drive with 'DG/VD'"),
        ("storcli-controller.json", ('"EID:Slt": "252:0"', '"EID:Slt": "?"'), r"a physical drive with 'EID:Slt'"),
        ("lsblk.json", ("500107862016", "99999999999999999999"), r"a size that a disk can have"),
        ("session.txt", ("2234.110", "2234,110"), r"x:11:\d+: found '2234,110'.*decimal point"),
        ("session.txt", ("7990704 kB", "7990704000000000000 kB"), r"x:13:\d+: .*a whole number of 0 to"),
    ],
)
def test_damage_is_named_with_its_place(name: str, change: tuple[str, str], message: str) -> None:
    """Protects people from silent defaults: file, line and column, what was found and what is expected."""
    assert change[0] in TEXTS[name]
    text = TEXTS[name].replace(*change, 1)
    with pytest.raises(InputError, match=message) as caught:
        inspect([Source("x", text)], "x")
    assert re.match(r"x:\d+(:\d+)?$", caught.value.place)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"hello\n", r"no such output, but 'hello'; expected: what one of these prints: /proc/mdstat; mdadm"),
        (b'{"a": 1}\n', "JSON of another kind"),
        (b"{", "the end of the file"),
        (b"Personalities : \x1b[0m\n", "control character 0x1b"),
        (b"Personalities : \xe9", r":1:17: found the byte 0xe9"),
        (b"Personalities :\n\nunused devices: <none>\n", "nothing to simulate"),
        (b"MemTotal: 100 kB\n", "nothing to simulate"),
        (b"Adapter 0 -- Virtual Drive Information:\n", "names no virtual and no physical drive"),
    ],
)
def test_what_is_no_output_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    """Protects from files of another kind, in another encoding, or with nothing in them."""
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(InputError, match=message):
        inspect([read_source(tmp_path / "f")], "x")


def test_a_kind_that_is_asked_for_has_to_be_there() -> None:
    """Protects --mdstat and its like: another tool's output is refused, with the place."""
    with pytest.raises(InputError, match=r"x:1:1: found what lsblk prints; expected: only what /proc/mdstat prints"):
        inspect([Source("x", TEXTS["lsblk.json"], "mdstat")], "x")
    inspect([Source("x", TEXTS["lsblk.json"], "lsblk")], "x")


def test_texts_that_are_too_long_are_refused_at_once() -> None:
    """Protects from reading a disk image, and from texts that only look like outputs over and over."""
    began = time.monotonic()
    for text in (
        "x" * (MOST_CHARACTERS + 1),
        "Personalities : [raid1]\n" * (MOST_OUTPUTS + 2),
        "md0 : active raid1 " + " ".join(f"sd{n}[{n}]" for n in range(2000)) + "\n      100 blocks [2/2] [UU]\n",
        "/dev/md0:\n           Version : 1\n" + " " * 100000,
        '{"blockdevices": ' + "[" * 5000,
        "Enclosure Device ID: " * 1000,
    ):
        assert made_or_refused(text) is None
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("name", TEXTS)
def test_a_truncated_output_is_refused_or_read_as_far_as_it_goes(name: str) -> None:
    """Protects from half an output: any cut is refused, or makes a scenario that loads."""
    text = TEXTS[name]
    for share in (0.2, 0.5, 0.8, 0.97):
        made_or_refused(text[: int(len(text) * share)])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_damaged_outputs_are_refused_or_made_into_what_loads(data: st.DataObject) -> None:
    """Protects from tracebacks and hangs: whatever is cut out, doubled or put in, it is refused or it loads."""
    text = TEXTS[data.draw(st.sampled_from(sorted(TEXTS)))]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 40)))
        put = data.draw(
            st.sampled_from(
                ["", text[start:end] * 2, "0", "99999999999", "-1", "\n", "[", "]", "{", "}", "U", ":", "\0"]
            )
            | st.text(max_size=8)
        )
        text = text[:start] + put + text[end:]
    made_or_refused(text)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(machine=machines(), other=machines(), data=st.data())
def test_no_error_is_about_a_file_that_nobody_wrote(machine: Machine, other: Machine, data: st.DataObject) -> None:
    """Protects partial pastes, and those of two machines: an error names a line of the paste, never a field of ours."""
    first, second = (data.draw(st.sampled_from([*ARRAYS, *DRIVES]))(each) for each in (machine, other))
    lines = f"{first}\n{second}".split("\n")
    start = data.draw(st.integers(0, len(lines) - 1))
    part = lines[start : start + data.draw(st.integers(1, len(lines)))]
    lost = data.draw(st.sets(st.integers(0, len(part) - 1), max_size=3))
    made_or_refused("\n".join(line for number, line in enumerate(part) if number not in lost) or "x")


def test_what_the_scenario_refuses_is_said_of_the_array() -> None:
    """Protects from an error in raidsim's own file: the array or drive of the output is left out, with the reason."""
    chosen = Chosen(FoundArray("md0", "x:2", 3), [("sda", FoundMember("sda", "in use", "x:2"))], ["sdb"])
    selection = Selection(arrays={"md0": chosen}, drives={"sdc": Match("WD800JB", {}, "")})
    for field, name in (("arrays.md0.members", "md0"), ("volumes.sda.on", "md0"), ("machine.drives.sdc.model", "sdc")):
        blame = blamed(InputError(f"x:9: field {field}", "found 7", "expected: 8"), selection)
        assert blame == (name, "7; expected: 8")
    assert blamed(InputError("x:9: field kernel", "found 7", "expected: 8"), selection) is None


def test_nothing_to_simulate_asks_for_what_tells_it() -> None:
    """Protects from a dead end: the commands whose output would do are named."""
    with pytest.raises(InputError, match=r"x:1: found nothing to simulate; .* as /proc/mdstat, mdadm .* lsblk"):
        inspect([Source("x", "MemTotal: 100 kB\n")], "x")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_numbers_of_any_size_are_refused_or_loaded(data: st.DataObject) -> None:
    """Protects from disks, chunks and counts of absurd sizes, which would take all the time or memory there is."""
    text = TEXTS[data.draw(st.sampled_from(sorted(TEXTS)))]
    numbers = list(re.finditer(r"\d+", text))
    for match in sorted(
        data.draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=4)), key=lambda m: -m.start()
    ):
        other = data.draw(st.integers(0, 10 ** data.draw(st.integers(1, 20))))
        text = text[: match.start()] + str(other) + text[match.end() :]
    made_or_refused(text)
