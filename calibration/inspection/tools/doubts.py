"""Lines that look like those of a tool and say nothing to its reader: a key is misspelt, or its value is strange.

A reader takes the lines that it knows, as tools print many more. So a damaged line would be dropped, and the machine
would be another one in silence. Here each output is looked at again: a key that is nearly a known one is named, and so
is a known key from whose line nothing was taken.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from ....model.core.errors import InputError
from ...text.report_text import shown
from .facts import Fact
from .findings import Findings
from .outputs import Output

_LEAST_KEY = 4
_FAR = 8
"""Characters of a key of which two may be wrong; of a shorter one only one."""
_KEY = re.compile(r"\s*(?P<key>[^:=]*?)\s*(?P<mark>[:=])\s*(?P<value>.*?)\s*$")
_NAME = re.compile(r"[A-Za-z0-9][\w!/.:@+-]*", re.ASCII)
_NOTHING = re.compile(r"(?:-|n/?a|none|unknown|not (?:available|reported|supported)|absent|no|yes|0+)?", re.IGNORECASE)
"""Values that say that there is none."""


class Keys(NamedTuple):
    """Keys of a tool, in lower case.

    Attributes
    ----------
    read
        Those that its reader takes.
    plain
        Form of the values of those of them that may change nothing, or are used without being kept.
    others
        Keys like these that it does not take.
    """

    read: frozenset[str]
    plain: dict[str, re.Pattern[str]]
    others: frozenset[str]


def _keys(read: str, plain: dict[str, str], others: str = "") -> Keys:
    kept, further = (frozenset(each.strip() for each in text.split(";") if each.strip()) for text in (read, others))
    forms = {each: re.compile(form, re.IGNORECASE) for keys, form in plain.items() for each in keys.split("; ")}
    return Keys(kept | forms.keys(), forms, further)


_ANY, _WHOLE = ".*", r"\d+(?:\s.*)?"
_UUID = r"[\da-f]{8}(?:[:-][\da-f]{4,8}){3}.*"
_ON = r"(?:Enabled|Disabled|On|Off)\b.*"
_SIZED = r"[\d.]+ ?(?:[KMGT]i?B\b.*)?"
_KEYS = {
    "mdadm": _keys(
        "array size; layout; chunk size; raid level; rebuild status; resync status; check status; reshape status; "
        "intent bitmap; internal bitmap; used dev size; delta devices",
        {
            "raid devices; events; preferred minor; device size": r"[\d.]+(?:\s.*)?",
            "members; sector size; per dev size": r"[\d.]+(?:\s.*)?",
            "name; state; md_devname": _ANY,
            "device role": r"Active device \d+|spare.*|Journal.*",
            "array state": r"[AaUuR._?]+(?: .*)?",
            "array uuid; uuid": _UUID,
            "magic": r"[\da-f]{8}|Intel Raid.*|DDF.*|\w{2,}",
            "slots": r"\[[U_]+\](?: <-- .*)?",
            "this slot": r"\d+(?: \(out-of-sync\))?",
            "md_level": r"raid\d+|linear|multipath|faulty|container",
            "md_devices": r"\d+",
        },
        "total devices; active devices; failed devices; spare devices; working devices; device uuid; super offset; "
        "data offset; sync status; avail dev size; raid disks; num stripes; consistency policy; migrate state; "
        "dirty state; map state; reserved; attributes; family; orig family; generation; checksum; md_uuid; md_name; "
        "md_metadata",
    ),
    "smartctl": _keys(
        "device model; model number; product; user capacity; total nvm capacity; sector size; sector sizes; "
        "sata version is; transport protocol; write cache is; writeback cache is",
        {
            "namespace 1 size/capacity": r"[\d,.'\u2019\u202f ]+.*",
            "logical block size": r"\d+ bytes.*",
            "rotation rate": r"\d{4,5} rpm|Solid State Device|Unknown.*",
            "device; serial number; nvme version": _ANY,
        },
        "physical block size; ata version is; device is; model family; firmware version; product id; revision; "
        "vendor; device type; device id; namespace 1 utilization; unallocated nvm capacity; read cache is",
    ),
    "arcconf": _keys(
        "controller model; installed memory; stripe-unit size; raid level; transfer speed; rotational speed; model; "
        "total size",
        {
            "cache memory; size": r"[\d.]+ ?[KMGT]B.*",
            "write-cache setting; write-cache mode; write cache": r"(?:Enabled|Disabled|On|Off)\b.*",
            "overall backup unit status; state": r"[A-Z][a-z].*",
            "serial number; reported location; reported channel,device(t:l)": _ANY,
            "ssd": "yes|no",
        },
        "read-cache setting; read-cache mode; write-cache status; read-cache status; stage; status; block size; "
        "parity space; mode; controller mode; controller status; cache mode",
    ),
    "ssacli": _keys(
        "strip size; stripe size; fault tolerance; total cache size; model; rotational speed; "
        "total cache memory available; battery/capacitor status; no-battery write cache; parity groups; "
        "number of parity groups",
        {
            "disk name; interface type; drive type; raid": ".+",
            "logical drive": _WHOLE,
            "array": "[A-Z]+",
            "size; cache size": _SIZED,
            "caching; array accelerator; drive write cache; physical drive write cache policy": r"\w.*",
            "status": r"(?:OK|Failed|Rebuilding|Recovering|Ready|Predictive|Interim|Waiting|Transforming|Not)\b.*",
        },
        "full stripe size; mount points; sectors per track; cache status; native block size; serial number; slot; "
        "cache serial number; cache ratio; unused space; used space; array type; cylinders; heads; bus interface",
    ),
    "omreport": _keys(
        "cache memory size; layout; size; stripe element size; read policy; capacity; product id; negotiated speed",
        {
            "id": r"[\d:]+",
            "name; slot id; bus protocol; media; device name; progress": _ANY,
            "cache policy; disk cache policy; learn state": _ANY,
            "state": r"[A-Z][\w -]+",
            "write policy": r"(?:Force )?Write (?:Back|Through).*",
            "hot spare": "No|Global|Dedicated",
        },
        "status; revision; vendor id; serial no.; sector size; encrypted; media type; part number; capable speed",
    ),
    "lscpu": _keys(
        "model name; modellname; nom de modèle; cpu(s); processeur(s)",
        {"cpu max mhz; cpu mhz; maximale taktfrequenz der cpu": r"[\d.,]+"},
        "model; cpu min mhz; bios model name; cpu op-mode(s); core(s) per socket; numa node(s); socket(s); "
        "numa node0 cpu(s); on-line cpu(s) list",
    ),
    "hdparm": _keys(
        "model number; nominal media rotation rate",
        {
            "logical  sector size; physical sector size; logical/physical sector size": r"\d+ bytes.*",
            "lba48  user addressable sectors; lba    user addressable sectors": r"\d+",
            "write-caching": r"[01] \(o(?:n|ff)\)|not supported",
        },
        "serial number; cache/buffer size; checksum; lba user addressable sectors",
    ),
    "id_ctrl": _keys("", {"mn": _ANY, "tnvmcap": r"[\d,]+.*"}, "sn; fr"),
    "megacli": _keys(
        "raid level; strip size; stripe size; size; span depth; product name; raw size; pd type; inquiry data; "
        "number of drives; number of drives per span; memory size; current size of fw cache",
        {
            "media type": r"Solid State Device|Hard Disk Device",
            "device speed; state; default cache policy; current cache policy; disk cache policy; battery state": _ANY,
            "firmware state": r"(?:Online|Unconfigured|Hotspare|Rebuild|Failed|Offline|JBOD|Copyback|Missing)\b.*",
            "slot number; device id": r"\d+",
            "enclosure device id": r"\d+|N/?A",
            "virtual drive; virtual disk; bbu; learn cycle active": _ANY,
            "drive's position; drive's postion": r"DiskGroup: \d+.*",
        },
        "sector size; coerced size; non coerced size; parity size; mirror data; link speed; battery type; name; "
        "max strip size; min strip size; enclosure position; is vd cached; port status",
    ),
    "zpool_status": _keys("", {"pool; state; scan; config": _ANY}, "see; id; action; status; errors"),
    "cpuinfo": _keys("", {"processor": r"\d+|[a-z].*", "model name": _ANY, "cpu mhz": r"[\d.]+"}, "model; processors"),
}
"""By kind of output."""


def doubts(output: Output, found: Findings) -> Iterator[str]:
    """Notes on lines of a text of which nothing was taken, though they look like lines that are read.

    Parameters
    ----------
    output
        What was printed.
    found
        What its reader made of it.
    """
    keys = _KEYS.get(output.kind)
    if keys is None or output.root is not None:
        return
    taken, said = set(_places(found)), set[str]()
    for number in output.lines:
        line = output.text.line(number)
        where = f"{output.text.name}:{number}"
        is_taken = where in taken or line.strip() in said
        if is_taken:
            said.add(line.strip())
        reason = _doubt(line, keys, is_taken)
        if reason is not None:
            yield f"{where}: {shown(line.strip())} is not read: {reason}"


def _doubt(line: str, keys: Keys, is_taken: bool) -> str | None:
    """What is strange about a line; None if nothing is."""
    if is_taken or not line.strip():
        return None
    match = _KEY.match(line)
    if match is None:
        cut = line.strip().lower()
        full = next((key for key in keys.read if key.startswith(cut)), None)
        return None if full is None or cut in keys.others else f"'{full}' without a value"
    key = match["key"].lower()
    if key in keys.read:
        form = keys.plain.get(key, _NOTHING)
        return None if form.fullmatch(match["value"]) else "its value is not known"
    near = None if key in keys.others or len(key) < _LEAST_KEY else _nearest(key, keys.read)
    return f"is it '{near}'?" if near is not None else None


def _nearest(key: str, known: Collection[str]) -> str | None:
    """The known key of which only a character or two are wrong."""
    for each in sorted(known):
        most = 2 if min(len(key), len(each)) >= _FAR else 1
        if abs(len(key) - len(each)) <= most and edits(key, each) <= most:
            return each
    return None


def edits(one: str, other: str) -> int:
    """How many characters must be put in, taken out or changed (Levenshtein 1966)."""
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, row[0] = row[0], at
        for to, wanted in enumerate(other, 1):
            before, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, before + (letter != wanted))
    return row[-1]


def _places(value: Any) -> Iterator[str]:
    """Every place that something was read from."""
    if isinstance(value, Fact):
        yield value.where
    elif isinstance(value, dict):
        for each in value.values():
            yield from _places(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _places(each)
    elif is_dataclass(value):
        where = getattr(value, "where", None)
        if isinstance(where, str):
            yield where
        for each in fields(value):
            yield from _places(getattr(value, each.name))


def lost_datasets(found: Findings) -> Iterator[str]:
    """Notes on datasets of a pool that nothing describes, where another pool is described."""
    for name, dataset in found.datasets.items():
        pool = name.split("/")[0]
        if found.pools and pool not in found.pools:
            yield f"{dataset.where}: {name} is left out: nothing describes a pool {pool}"


def check_names(found: Findings) -> None:
    """Refuse names of drives and arrays that no kernel gives: a damaged one would be a further device.

    Raises
    ------
    InputError
        With the place of the name.
    """
    named = [(name, drive.where) for name, drive in found.drives.items()]
    for array in found.arrays.values():
        named += [(array.name, array.where), *((member.device, member.where) for member in array.members
                                               if member.device is not None)]  # fmt: skip
        named += [(each, array.where) for each in (*array.spares, *array.stray)]
    named += [(leaf.name, leaf.where) for pool in found.pools.values() for leaf in pool.leaves]
    for name, where in named:
        if not _NAME.fullmatch(name.removeprefix("/dev/")):
            raise InputError(where, f"found {shown(name)}", "expected: the name of a device, such as sda or md0")
