"""DiskSpd's results as XML (-Rxml; XmlResultParser.cpp): counts of each target, and latencies of all of them.

Each time span is a run. Rates are counts over the measured seconds. Percentiles are those that DiskSpd lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ...text.report import FigureList, Report
from ...text.report_text import Cell, ReportText

NAME = "DiskSpd"
SIGNATURE = re.compile(r"^\s*(?:<\?xml[^>]*\?>\s*)?<Results>")

_TOKEN = re.compile(
    r"<\?[^<>]*\?>|<(?P<ends>/?)(?P<tag>\w+)(?P<more>[^<>]*?)(?P<empty>/?)>|(?P<text>[^<>\s][^<>]*)|(?P<other>[<>])"
)
_ROOT = "Results"
_MOST_DEPTH = 20
_LATENCIES = {
    "AverageReadMilliseconds": "read_mean_seconds",
    "AverageWriteMilliseconds": "write_mean_seconds",
    "AverageTotalMilliseconds": "mean_seconds",
}
_OF_A_TARGET = {
    "AverageReadLatencyMilliseconds": "read_mean_seconds",
    "AverageWriteLatencyMilliseconds": "write_mean_seconds",
}
_PERCENTILES = {"ReadMilliseconds": "read", "WriteMilliseconds": "write", "TotalMilliseconds": "total"}


class _Leaf(NamedTuple):
    """A value: the tags around it, its own last, and the number of each parent among its siblings."""

    path: tuple[str, ...]
    parents: tuple[int, ...]
    value: Cell


def parse(text: ReportText) -> Report:
    """The figures of every time span."""
    figures, version = FigureList(), None
    leaves = list(_leaves(text))
    for leaf in leaves:
        if leaf.path == (_ROOT, "System", "Tool", "Version"):
            version = leaf.value.text
    spans: dict[int, list[_Leaf]] = {}
    for leaf in leaves:
        if leaf.path[:2] == (_ROOT, "TimeSpan") and len(leaf.path) > 2:
            spans.setdefault(leaf.parents[1], []).append(leaf)
    for run, own in enumerate(spans.values(), 1):
        _span(own, str(run), figures)
    if not len(figures):
        raise text.refused(len(text), "results of a time span with TestTimeSeconds and targets: is the file complete?")
    return Report(NAME, version, figures.all(), text.skipped())


def _span(leaves: list[_Leaf], run: str, figures: FigureList) -> None:
    times = [leaf.value for leaf in leaves if leaf.path[2:] == ("TestTimeSeconds",)]
    if not times:
        raise leaves[0].value.refused("a time span with TestTimeSeconds")
    seconds = times[0].number()
    if not seconds:
        raise times[0].refused("more than 0 seconds")
    targets: dict[tuple[int, ...], dict[str, Cell]] = {}
    buckets: dict[tuple[int, ...], dict[str, Cell]] = {}
    for leaf in leaves:
        if leaf.path[2:4] == ("Thread", "Target") and len(leaf.path) == 5:
            targets.setdefault(leaf.parents, {})[leaf.path[4]] = leaf.value
        elif leaf.path[2:4] == ("Latency", "Bucket") and len(leaf.path) == 5:
            buckets.setdefault(leaf.parents, {})[leaf.path[4]] = leaf.value
        elif leaf.path[2:3] == ("Latency",) and leaf.path[3:4] and leaf.path[3] in _LATENCIES:
            figures.add(_LATENCIES[leaf.path[3]], leaf.value.number(per=1000), "s", leaf.value.line, run=run)
    sums = {"read_iops": 0.0, "write_iops": 0.0, "read_rate": 0.0, "write_rate": 0.0}
    for thread, found in enumerate(targets.values(), 1):
        here = {"run": run, "thread": str(thread), **({"target": found["Path"].text} if "Path" in found else {})}
        for way in ("Read", "Write"):
            for key, name in ((f"{way}Count", f"{way.lower()}_iops"), (f"{way}Bytes", f"{way.lower()}_rate")):
                if key in found:
                    value = found[key].number(per=1) / seconds
                    sums[name] += value
                    figures.add(name, value, "1/s" if key.endswith("Count") else "bytes/s", found[key].line, **here)
        for key, name in _OF_A_TARGET.items():
            if key in found:
                figures.add(name, found[key].number(per=1000), "s", found[key].line, **here)
    for name, total in sums.items():
        figures.add(name, total, "1/s" if name.endswith("iops") else "bytes/s", times[0].line, run=run)
    for values in buckets.values():
        for key, way in _PERCENTILES.items():
            if key in values and "Percentile" in values:
                name = f"{way}_p{values['Percentile'].number():g}_seconds"
                figures.add(name, values[key].number(per=1000), "s", values[key].line, run=run)


def _leaves(text: ReportText) -> Iterator[_Leaf]:
    """Every value below the root, in order; each line of it is used."""
    stack: list[tuple[str, int]] = []
    numbered, begun, said = 0, False, None
    for number in range(1, len(text) + 1):
        line = text.line(number)
        if not begun and not SIGNATURE.match(line):
            continue
        for match in _TOKEN.finditer(line) if not begun or stack else ():
            cell = text.cell(number, *match.span())
            if match["other"]:
                raise cell.refused("a tag such as <ReadBytes> in one line")
            if match["text"] is not None:
                said = cell._replace(text=match["text"].strip())
            elif match["tag"] is not None and match["ends"]:
                if not stack or stack[-1][0] != match["tag"]:
                    raise cell.refused(f"</{stack[-1][0]}>" if stack else "nothing behind the results")
                if said is not None:
                    yield _Leaf(tuple(tag for tag, _ in stack), tuple(each for _, each in stack[:-1]), said)
                stack.pop()
                said = None
            elif match["tag"] is not None and not match["empty"]:
                if len(stack) >= _MOST_DEPTH:
                    raise cell.refused(f"at most {_MOST_DEPTH} tags in each other")
                numbered, begun, said = numbered + 1, True, None
                stack.append((match["tag"], numbered))
        text.use(number)
    if stack:
        raise text.refused(len(text) + 1, f"</{stack[-1][0]}>")
