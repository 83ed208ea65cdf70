"""A block of lines of a trace, all parsed at once.

The usual line is plain: separated fields of digits, one number of fields in all lines, no white space around them. If
all lines of a block are so, each column of them is one array operation. Anything else is :class:`Unusual`, and the
block is read line by line, by the reader that knows every way to write a field and says what is wrong with one. So a
bulk reader may refuse what it likes, but what it reads must be what the reader of lines reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from ....model.core.request import READ, WRITE
from .columns import RawColumns
from .fields import LARGEST, LAST_BYTE
from .source import LONGEST_LINE, Source

_NEWLINE, _DOT, _ZERO = 10, 46, 48
_MOST_DIGITS = 18
"""Of a number that is below 2^63 whatever its digits are."""
_EXACT_DIGITS = 15
"""Of a number that is exact as a double, and so is the sum of its digits' values."""
_SPAN_NS = 1 << 61
"""Time from the first record that the sum of two of fits an integer of 64 bits (73 years)."""
_POWERS = 10 ** np.arange(_MOST_DIGITS + 1, dtype=np.int64)
_MOST_BYTES = 8
"""Of a word that is compared as one integer."""

Whole = NDArray[np.int64]
DIRECTIONS = {b"R": READ, b"W": WRITE, b"r": READ, b"w": WRITE, b"Read": READ, b"Write": WRITE}
"""What the usual words for a direction mean."""


class Unusual(Exception):
    """A block has a line that is not plain, and is to be read line by line."""


class Lines:
    """The lines of a block.

    Parameters
    ----------
    source
        Where they come from.
    block
        Whole lines with their ends.
    separator
        The byte between fields; None: any number of blanks.
    header
        How a first line begins that is no record; empty: there is none.

    Raises
    ------
    Unusual
        If not all lines have the same number of fields.
    """

    def __init__(self, source: Source, block: bytes, separator: bytes | None, header: bytes = b"") -> None:
        self._source = source
        self.skipped = 0
        if header and block.startswith(header):
            self.skipped = 1
            block = block[block.index(b"\n") + 1 :]
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n")
        if not block or b"\0" in block:
            raise Unusual
        self._bytes = np.frombuffer(block, dtype=np.uint8)
        newlines = np.flatnonzero(self._bytes == _NEWLINE)
        self.count = len(newlines)
        if int(np.diff(newlines, prepend=-1).max()) > LONGEST_LINE:
            raise Unusual
        if separator is None:
            self._split_at_blanks(newlines)
        else:
            self._split(newlines, separator[0])
        self.fields = len(self._starts)
        self._dots: Whole | None = None

    def _split(self, newlines: NDArray[np.intp], separator: int) -> None:
        known = self._bytes
        ends = np.flatnonzero((known == separator) | (known == _NEWLINE))
        fields, over = divmod(len(ends), self.count)
        if over or not np.array_equal(ends[fields - 1 :: fields], newlines):
            raise Unusual
        starts = np.empty_like(ends)
        starts[0] = 0
        starts[1:] = ends[:-1] + 1
        self._starts = [starts[field::fields] for field in range(fields)]
        self._ends = [ends[field::fields] for field in range(fields)]

    def _split_at_blanks(self, newlines: NDArray[np.intp]) -> None:
        blank = (self._bytes == 32) | (self._bytes == 9) | (self._bytes == _NEWLINE)
        borders = np.flatnonzero(np.diff(blank, prepend=True))
        starts, ends = borders[::2], borders[1::2]
        fields, over = divmod(len(ends), self.count)
        if over or not fields:
            raise Unusual
        starts, ends = starts.reshape(-1, fields), ends.reshape(-1, fields)
        if np.any(ends[:, -1] > newlines) or np.any(starts[1:, 0] < newlines[:-1]):
            raise Unusual
        self._starts = [starts[:, field] for field in range(fields)]
        self._ends = [ends[:, field] for field in range(fields)]

    def whole(self, field: int, most: int = (1 << 63) - 1, least: int = 0) -> Whole:
        """A column of whole numbers from `least` to `most`."""
        return _within(self._digits(self._starts[field], self._ends[field]), most, least)

    def decimal_ns(self, field: int, unit_ns: int) -> Whole:
        """A column of times in units of `unit_ns`, with decimals or without, in whole nanoseconds."""
        starts, ends = self._starts[field], self._ends[field]
        if self._dots is None:
            self._dots = np.append(np.flatnonzero(self._bytes == _DOT), len(self._bytes))
        dots = np.minimum(self._dots[np.searchsorted(self._dots, starts)], ends)
        scale = len(str(unit_ns)) - 1
        decimals = ends - dots - 1
        most = int(decimals.max())
        if most > _MOST_DIGITS - scale or int((dots - starts).max()) > _MOST_DIGITS - scale:
            raise Unusual
        found = self._digits(starts, dots) * unit_ns
        if most > 0:
            # Where there is no dot there are no decimals, and where there is one there must be one at least.
            behind = np.minimum(dots + 1, ends)
            if np.any(decimals == 0):
                raise Unusual
            found += self._digits(behind, ends, least=0) * unit_ns // _POWERS[np.maximum(decimals, 0)]
        return found

    def words(self, field: int, meanings: Mapping[bytes, int]) -> NDArray[np.int8]:
        """A column of words, as what they mean."""
        keys = self._keys(field)
        found = np.full(self.count, -1, dtype=np.int8)
        for word, meaning in meanings.items():
            found[keys == _key(word)] = meaning
        if np.any(found < 0):
            raise Unusual
        return found

    def device(self, field: int, named: Callable[[bytes], str], ahead: int = 0) -> NDArray[np.int32]:
        """A column of devices, with `ahead` further fields in front of it as part of the name: their numbers.

        `named` makes a name of the bytes of the field, with a dot between several.
        """
        starts, ends = self._starts[field - ahead], self._ends[field]
        lengths = ends - starts
        first, end = int(starts[0]), int(ends[0])
        size = end - first
        # Mostly all lines are of one device.
        at = starts[:, None] + np.arange(size)
        if bool((lengths == size).all()) and bool((self._bytes[at] == self._bytes[first:end]).all()):
            number = self._source.number_of(named(self._text(first, end, ahead)))
            return np.full(self.count, number, dtype=np.int32)
        if int(lengths.max()) > _MOST_BYTES:
            texts = [self._text(start, stop, ahead) for start, stop in zip(starts.tolist(), ends.tolist(), strict=True)]
            numbers = {text: self._source.number_of(named(text)) for text in dict.fromkeys(texts)}
            return np.array([numbers[text] for text in texts], dtype=np.int32)
        keys = self._packed(starts, ends)
        kinds, firsts, which = np.unique(keys, return_index=True, return_inverse=True)
        numbers_of = np.empty(len(kinds), dtype=np.int32)
        # Devices are numbered in the order in which they come.
        for kind in np.argsort(firsts).tolist():
            at_first = int(firsts[kind])
            text = self._text(int(starts[at_first]), int(ends[at_first]), ahead)
            numbers_of[kind] = self._source.number_of(named(text))
        return numbers_of[which]

    def number(self, device: str) -> NDArray[np.int32]:
        """The number of the one device that the format has, for each line."""
        return np.full(self.count, self._source.number_of(device), dtype=np.int32)

    def columns(
        self,
        ticks: Whole,
        tick_ns: int,
        ops: NDArray[np.int8],
        offsets: Whole,
        sizes: Whole,
        devices: NDArray[np.int32],
    ) -> RawColumns:
        """All lines as I/Os, if there can be such, with times in ticks of `tick_ns`."""
        if int(sizes.min()) < 1 or int(sizes.max()) > LARGEST or int(offsets.max()) > LAST_BYTE - LARGEST:
            raise Unusual
        first = int(ticks[0])
        later_ns = first * tick_ns - self._source.since(first * tick_ns)
        if not -_SPAN_NS < later_ns < _SPAN_NS:
            raise Unusual
        since = ticks - first
        if max(int(since.max()), -int(since.min())) >= _SPAN_NS // tick_ns:
            raise Unusual
        before = self._source.count_lines(self.skipped + self.count) + self.skipped
        marks = np.arange(before + 1, before + 1 + self.count, dtype=np.int64)
        return RawColumns(since * tick_ns + later_ns, ops, offsets, sizes, devices, marks)

    def _text(self, start: int, end: int, ahead: int) -> bytes:
        text = self._bytes[start:end].tobytes()
        return b".".join(text.split(b",")) if ahead else text

    def _digits(self, starts: NDArray[np.intp], ends: NDArray[np.intp], least: int = 1) -> Whole:
        """The numbers whose digits are between `starts` and `ends`, each with `least` digits or more."""
        lengths = ends - starts
        longest = int(lengths.max())
        if longest > _MOST_DIGITS or int(lengths.min()) < least:
            raise Unusual
        found = np.zeros(self.count, dtype=np.int64)
        if not longest:
            return found
        # Of columns that are right-aligned digits in front of `ends`; what is before the number is 0.
        at = ends[:, None] + np.arange(-longest, 0)
        digits = self._bytes.take(at, mode="clip") - np.uint8(_ZERO)
        if int(lengths.min()) < longest:
            digits[at < starts[:, None]] = 0
        if np.any(digits > 9):
            raise Unusual
        low = digits[:, -_EXACT_DIGITS:].astype(np.float64) @ _POWERS[: min(longest, _EXACT_DIGITS)][::-1].astype(float)
        found += low.astype(np.int64)
        if longest > _EXACT_DIGITS:
            high = digits[:, :-_EXACT_DIGITS].astype(np.int64)
            found += high @ _POWERS[_EXACT_DIGITS:longest][::-1]
        return found

    def _keys(self, field: int) -> NDArray[np.uint64]:
        return self._packed(self._starts[field], self._ends[field])

    def _packed(self, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> NDArray[np.uint64]:
        """Words of up to eight bytes as integers."""
        lengths = ends - starts
        longest = int(lengths.max())
        if longest > _MOST_BYTES or int(lengths.min()) < 1:
            raise Unusual
        if longest == 1:
            return self._bytes[starts].astype(np.uint64)
        at = starts[:, None] + np.arange(longest)
        letters = self._bytes.take(at, mode="clip")
        letters[at >= ends[:, None]] = 0
        packed = np.zeros((self.count, _MOST_BYTES), dtype=np.uint8)
        packed[:, :longest] = letters
        return packed.view("<u8")[:, 0]


def _key(word: bytes) -> int:
    return int.from_bytes(word, "little")


def _within(values: Whole, most: int, least: int) -> Whole:
    if int(values.max()) > most or int(values.min()) < least:
        raise Unusual
    return values
