"""Pools that nobody has, and what zpool status would print of them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

KINDS = {"stripe": 1, "mirror": 2, "raidz1": 3, "raidz2": 4, "raidz3": 5, "draid1:2d:4c:0s": 4}
"""Kinds, and the fewest devices of each."""
OTHERS = {"special": ("mirror",), "log": ("stripe", "mirror"), "cache": ("stripe",), "spare": ("stripe",)}
"""What vdevs are for besides data, and of which kinds these can be."""
LOST = ("FAULTED", "OFFLINE", "UNAVAIL", "REMOVED")


@dataclass(frozen=True)
class Printed:
    """A pool: its vdevs (use, kind, devices), and the states of devices that are not online."""

    vdevs: tuple[tuple[str, str, tuple[str, ...]], ...]
    states: dict[str, str]

    @property
    def words(self) -> str:
        """As `zpool create` is told it, with names of disks only."""
        said, use, before = [], "data", "stripe"
        for own, kind, devices in self.vdevs:
            if own != use:
                use, before = own, "stripe"
                said.append(use)
            said += [kind] if (kind, before) != ("stripe", "stripe") else []
            said += devices
            before = kind
        return " ".join(said)


def name_of(disk: int, form: str) -> str:
    """A disk's name: the kernel's, udev's, or one with a folder."""
    kernel = f"sd{chr(97 + disk // 26)}{chr(97 + disk % 26)}"
    return {"kernel": kernel, "path": f"/dev/{kernel}1", "id": f"ata-ST4000VN008-2DR166_ZDH{disk:04d}-part1"}[form]


@st.composite
def pools(draw: st.DrawFn) -> Printed:
    """Any pool of up to 32 disks."""
    found, states, disk = [], {}, 0
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(sorted(KINDS)))
        width = KINDS[kind] + (0 if kind[0] in "sd" else draw(st.integers(0, 3)))
        names = tuple(name_of(disk + each, "kernel") for each in range(width))
        if kind != "stripe" and draw(st.booleans()):
            states[names[draw(st.integers(0, width - 1))]] = draw(st.sampled_from(LOST))
        found.append(("data", kind, names))
        disk += width
    for use, kinds in (
        ("special", ("mirror",)),
        ("log", ("stripe", "mirror")),
        ("cache", ("stripe",)),
        ("spare", ("stripe",)),
    ):
        if draw(st.booleans()):
            kind = draw(st.sampled_from(kinds))
            names = tuple(name_of(disk + each, "kernel") for each in range(KINDS[kind]))
            found.append((use, kind, names))
            disk += len(names)
    return Printed(tuple(found), states)


def status(pool: Printed, form: str = "kernel", indent: bool = True) -> str:
    """What zpool status prints; without indents as some web pages show it."""
    rows, use = [("tank", "ONLINE", 0)], "data"
    for number, (own, kind, devices) in enumerate(pool.vdevs):
        if own != use:
            use = own
            rows.append(({"log": "logs", "spare": "spares"}.get(use, use), "", 0))
        if kind != "stripe":
            rows.append((f"{kind}-{number}", "ONLINE", 1))
        for device in devices:
            name = name_of((ord(device[2]) - 97) * 26 + ord(device[3]) - 97, form)
            rows.append(
                (name, pool.states.get(device, "AVAIL" if own == "spare" else "ONLINE"), 1 + (kind != "stripe"))
            )
    lines = []
    for name, state, depth in rows:
        before = "\t" + "  " * depth if indent else ""
        counts = "" if state in ("", "AVAIL") else "     0     0     0"
        lines.append(f"{before}{name}" if not state else f"{before}{name:<30}  {state}{counts}")
    head = "  pool: tank\n state: ONLINE\n  scan: none requested\nconfig:\n\n"
    heading = f"{'	' if indent else ''}{'NAME':<30}  STATE     READ WRITE CKSUM\n"
    return f"{head}{heading}{chr(10).join(lines)}\n\nerrors: No known data errors\n"


def drives(pool: Printed) -> str:
    """What lsblk -P prints of its disks."""
    devices = [device for _, _, names in pool.vdevs for device in names]
    return "".join(f'NAME="{name}" TYPE="disk" SIZE="4000787030016" ROTA="1"\n' for name in devices)
