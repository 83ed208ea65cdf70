"""/proc/mdstat of Linux 2.4 to 6.x (md.c: md_seq_show, status_resync; raid5.c, raid10.c, md-bitmap.c).

Blocks and the K of a speed are 1024 bytes. Words that are no numbers (level, state, algorithm, metadata) are the
context of the array's figures; a member is a figure whose value is its slot. What is going on ("recovery", "resync",
"reshape", "check") gives five figures: progress, done, total, the time that is left, and the rate.
"""

from __future__ import annotations

import re

from ...text.paste import join_wrapped
from ...text.report import FigureList, Report
from ...text.report_text import Cell, ReportText, shown

NAME = "mdstat"
SIGNATURE = re.compile(r"^Personalities\s*:|^md\S*\s*: (?:in)?active\b")

_KIB = 1024
_ARRAY = re.compile(r"^(?P<name>md\S*)\s*: (?P<state>active|inactive)(?P<mode>(?: \([\w-]+\))*)(?P<rest>(?: .*)?)$")
_MEMBER = re.compile(r"(?P<name>[\w!/.:-]+)\[(?P<slot>\d+)\](?P<flags>(?:\([A-Z]\))*)", re.ASCII)
_FLAGS = {"F": "faulty", "S": "spare", "W": "write-mostly", "J": "journal", "R": "replacement"}
_BLOCKS = re.compile(r"^\s*(?P<blocks>\d+) blocks(?P<rest>(?: .*)?)$", re.ASCII)
_SUPER = re.compile(r" super (\S+)")
_CHUNK = re.compile(r"(?<![\w.])(\d+)([kK]) (?:chunks?|rounding)\b", re.ASCII)
_ALGORITHM = re.compile(r" algorithm (\d+)\b", re.ASCII)
_COPIES = re.compile(r" (\d+) (near|far|offset)-copies", re.ASCII)
_WORKING = re.compile(r"\[(\d+)/(\d+)\] \[([U_]*)\]\s*$", re.ASCII)
_WORDS = re.compile(
    r"(?: super \S+| level \d+,?| \d+[kK] (?:chunks?|rounding),?| algorithm \d+| \d+ (?:near|far|offset)-copies"
    r"| \[\d+/\d+\] \[[U_]*\])*\s*",
    re.ASCII,
)
_PROGRESS = re.compile(
    r"^\s*\[[=>.]+\]\s+(?P<action>recovery|resync|reshape|check|repair)\s*=\s*(?P<share>[^\s%]+)% "
    r"\((?P<done>\d+)/(?P<total>\d+)\) finish=(?P<finish>[^\sm]+)min speed=(?P<speed>\d+)K/sec\s*$",
    re.ASCII,
)
_WAITING = re.compile(r"^\s*(?P<action>recovery|resync|reshape|check|repair)=(?P<why>DELAYED|PENDING|REMOTE)\s*$")
_BITMAP = re.compile(
    r"^\s*bitmap: (?P<used>\d+)/(?P<pages>\d+) pages \[\d+KB\], (?P<chunk>\d+)(?P<unit>K?B) chunk"
    r"(?:, file: .*)?\s*$",
    re.ASCII,
)
_DETAIL = re.compile(r"^(?:\s+\S|\d+ blocks\b|bitmap: |\[[=>.]+\]|(?:recovery|resync|reshape|check|repair)=)")
"""A line below the name of an array; some pages take the white space before it away."""
_LINE = re.compile(
    r"\s*(?:Personalities\s*:|md\S*\s*: (?:in)?active\b|unused devices:|read_ahead |\d+ blocks\b|bitmap: |\[[=>.]+\]"
    r"|(?:recovery|resync|reshape|check|repair)=[A-Z]|Event: )"
)
"""What a line begins with, unless it is the rest of the line before it."""
_PIECE = re.compile(
    r"[\w!/.:-]+\[\d+\](?:\([A-Z]\))*|\[(?:raid\d+|linear|multipath|faulty)\]|(?:raid\d+|linear|super|level|algorithm|blocks)"
    r"|external:\S+|\d+\.\d+|\d+,?|\d+[kK]|chunks?,?|rounding|(?:near|far|offset)-copies|\[\d+/\d+\]|\[[U_]+\]|\[[=>.]+\]"
    r"|recovery|resync|reshape|check|repair|=|[\d.]+%|\(\d+/\d+\)|finish=[\d.]+min|speed=\d+K/sec|\d+/\d+|pages"
    r"|\[\d+KB\],?|\d+K?B|file:|/\S+|:|active|inactive|\([a-z-]+\)|<none>",
    re.ASCII,
)
"""A word of mdstat that a broken line may go on with."""
_SURE = re.compile(
    r"\[\d+\]|\[[U_]+\]|\[\d+/\d+\]|\[\d+KB\]|K/sec|finish=|\[raid|%|\(\d+/|-copies|chunk|algorithm|blocks"
)
"""What only mdstat writes."""
_EDGE = re.compile(r"^(?:Personalities\s*:|read_ahead |unused devices:)")
_ALGORITHMS = {
    0: "left-asymmetric",
    1: "right-asymmetric",
    2: "left-symmetric",
    3: "right-symmetric",
    4: "parity-first",
    5: "parity-last",
    8: "ddf-zero-restart",
    9: "ddf-N-restart",
    10: "ddf-N-continue",
    16: "left-asymmetric-6",
    17: "right-asymmetric-6",
    18: "left-symmetric-6",
    19: "right-symmetric-6",
    20: "parity-first-6",
}


def joint(line: str, rest: str) -> str | None:
    """How a line goes on with the next one, if mail or a terminal has broken it (:data:`.paste.Joint`)."""
    if not line.lstrip().startswith(("md", "Personalities", "[", "bitmap:", "unused")) and not _BLOCKS.match(line):
        return None
    words = rest.split()
    if _LINE.match(rest) or not all(map(_PIECE.fullmatch, words[1:])):
        return None
    last = line.rsplit(maxsplit=1)[-1]
    if _PIECE.fullmatch(words[0]) and (_PIECE.fullmatch(last) or last in _WORDS_BEFORE):
        return " "
    return "" if _PIECE.fullmatch(last + words[0]) else None


_WORDS_BEFORE = ("Personalities", "unused", "devices:", "bitmap:")


def is_part(line: str) -> bool:
    """Whether a line is a part of mdstat, though none that can be read alone."""
    words = line.split()
    known = bool(words) and all(map(_PIECE.fullmatch, words)) and any(map(_SURE.search, words))
    return known or _LINE.match(line) is not None


def parse(text: ReportText) -> Report:
    """The arrays, their members, and what is going on in them."""
    join_wrapped(text, range(1, len(text) + 1), joint)
    figures, number, arrays = FigureList(), 1, 0
    warnings: list[str] = []
    while number <= len(text):
        line = text.line(number)
        if _EDGE.match(line):
            text.use(number)
        elif line.startswith("md"):
            arrays += 1
            number = _array(text, number, figures, warnings)
            continue
        number += 1
    if not arrays:
        warnings.append("no array is known to this kernel")
    return Report(NAME, None, figures.all(), (*warnings, *text.skipped()))


def _array(text: ReportText, number: int, figures: FigureList, warnings: list[str]) -> int:
    """One array; returns the number of the line after it."""
    match = _ARRAY.match(text.line(number))
    if match is None:
        raise text.refused(number, "'NAME : active LEVEL MEMBER[SLOT] ...' or '... inactive ...'")
    text.use(number)
    words = text.cells(number, match.start("rest"))
    here = {"array": match["name"], "state": " ".join([match["state"], *match["mode"].split()])}
    if words and "[" not in words[0].text:
        here["level"] = words.pop(0).text
    elif match["state"] == "active":
        raise text.refused(number, "the level of an active array after its state")
    below = details = _below(text, number)
    while _DETAIL.match(text.line(details)):
        details = _below(text, details)
    blocks = _BLOCKS.match(text.line(below)) if details > below else None
    if blocks is None:
        raise text.refused(below, "the array's 'N blocks ...' under its name: is the file complete?")
    slots = [_member(word, here, figures) for word in words]
    _layout(text, below, blocks, here, slots, figures)
    for line in range(below + 1, details):
        if text.line(line):
            _detail(text, line, here, figures, warnings)
    text.use(*range(number, details))
    return details


def _below(text: ReportText, number: int) -> int:
    """The number of the next line of an array; some pages put an empty one between all lines."""
    after = text.after(number)
    further = after + 1
    spaced = not text.line(after) and _DETAIL.match(text.line(further)) and _LINE.match(text.line(further))
    return further if spaced else after


def _member(word: Cell, here: dict[str, str], figures: FigureList) -> str:
    """Keep one member; returns its state."""
    match = _MEMBER.fullmatch(word.text)
    if match is None:
        raise word.refused("a member with its slot, such as sda1[0] or sdb1[1](F)")
    flags = re.findall(r"[A-Z]", match["flags"])
    unknown = [flag for flag in flags if flag not in _FLAGS]
    if unknown:
        raise word.refused(f"the flags {', '.join(f'({flag})' for flag in _FLAGS)}")
    state = " ".join(_FLAGS[flag] for flag in flags) or "in use"
    slot = word._replace(text=match["slot"], column=word.column + match.start("slot")).whole()
    figures.add("slot", slot, "count", word.line, array=here["array"], member=match["name"], member_state=state)
    return state


def _layout(
    text: ReportText, number: int, blocks: re.Match[str], here: dict[str, str], states: list[str], figures: FigureList
) -> None:
    """Size, chunk, algorithm, copies and working members: the line under an array's name."""
    line = text.line(number)
    rest = blocks["rest"]
    if not _WORDS.fullmatch(rest):
        known = _WORDS.match(rest)
        start = blocks.start("rest") + (known.end() if known else 0)
        raise (text.cells(number, start) or text.cells(number))[0].refused(
            "super, level, chunk, algorithm, near-, far- or offset-copies and [n/m] [UU_], in this line"
        )
    metadata = _SUPER.search(rest)
    if metadata is not None:
        here["metadata"] = metadata.group(1)
    algorithm = _ALGORITHM.search(line)
    if algorithm is not None:
        code = text.group(number, algorithm, 1)
        if code.whole() not in _ALGORITHMS:
            raise code.refused(f"md's algorithms {', '.join(map(str, _ALGORITHMS))}")
        here["algorithm"] = _ALGORITHMS[code.whole()]
    copies = _COPIES.search(line)
    if copies is not None:
        here["copies"] = copies.group(2)
    figures.add("size", text.group(number, blocks, "blocks").number(_KIB), "bytes", number, **here)
    chunk = _CHUNK.search(line)
    if chunk is not None:
        figures.add("chunk", text.group(number, chunk, 1).number(_KIB), "bytes", number, **here)
    if algorithm is not None:
        figures.add("algorithm", text.group(number, algorithm, 1).whole(), "count", number, **here)
    if copies is not None:
        figures.add("copies", text.group(number, copies, 1).whole(), "count", number, **here)
    working = _WORKING.search(line)
    if working is None:
        return
    wanted, there, marks = (text.group(number, working, group) for group in (1, 2, 3))
    if len(marks.text) != wanted.whole() or marks.text.count("U") != there.whole():
        raise marks.refused(f"{wanted.text} marks, of which {there.text} are U, as the numbers before say")
    if len([state for state in states if "spare" not in state]) < there.whole():
        raise there.refused(f"no more than the {len(states)} members of the line above")
    figures.add("members", wanted.whole(), "count", number, **here)
    figures.add("working_members", there.whole(), "count", number, **here)


def _detail(text: ReportText, number: int, here: dict[str, str], figures: FigureList, warnings: list[str]) -> None:
    """Progress, what waits, or the bitmap."""
    line, array = text.line(number), {"array": here["array"]}
    waiting, bitmap, progress = _WAITING.match(line), _BITMAP.match(line), _PROGRESS.match(line)
    if waiting is not None:
        warnings.append(f"{here['array']} (line {number}): {waiting['action']} is {waiting['why'].lower()}")
        figures.add(f"{waiting['action']}_waiting", 1, "count", number, **array)
    elif bitmap is not None:
        figures.add("bitmap_pages_used", text.group(number, bitmap, "used").whole(), "count", number, **array)
        figures.add("bitmap_pages", text.group(number, bitmap, "pages").whole(), "count", number, **array)
        times = _KIB if bitmap["unit"] == "KB" else 1
        figures.add("bitmap_chunk", text.group(number, bitmap, "chunk").number(times), "bytes", number, **array)
    elif progress is not None:
        action = progress["action"]
        done, total = text.group(number, progress, "done"), text.group(number, progress, "total")
        if done.whole() > total.whole():
            raise done.refused(f"no more than the {total.text} blocks that there are")
        share = text.group(number, progress, "share").percent()
        figures.add(f"{action}_progress", share, "share", number, **array)
        figures.add(f"{action}_done", done.number(_KIB), "bytes", number, **array)
        figures.add(f"{action}_total", total.number(_KIB), "bytes", number, **array)
        figures.add(f"{action}_finish", text.group(number, progress, "finish").number(60), "s", number, **array)
        figures.add(f"{action}_rate", text.group(number, progress, "speed").number(_KIB), "bytes/s", number, **array)
    elif not is_part(line):
        warnings.append(f"line {number} is no line of mdstat and left out: {shown(line.strip())}")
    else:
        raise text.refused(
            number, "progress ('[=>..]  recovery = 9.4% (...) finish=...min speed=...K/sec'), or a bitmap"
        )
