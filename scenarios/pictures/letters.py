"""Letters in pictures that Matplotlib's own font lacks: which fonts may have them, and which letters none has."""

from __future__ import annotations

import logging
import re
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

FALLBACKS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK TC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Source Han Sans SC",
    "Droid Sans Fallback",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "PingFang SC",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "Arial Unicode MS",
    "Noto Sans",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Thai",
    "Noto Sans Devanagari",
    "Noto Emoji",
    "Symbola",
    "Segoe UI Symbol",
    "Unifont",
)
"""Fonts that have what Matplotlib's own lacks, tried letter by letter in this order where they are installed."""
_MOST_NAMED = 20
_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "FULLWIDTH", "IDEOGRAPHIC", "BOPOMOFO")
_GLYPH = re.compile(r"Glyph (\d+) ")


def installed_fallbacks() -> list[str]:
    """Those of the fallbacks that are there, also if they came after Matplotlib made its list."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    known = {Path(font.fname).name for font in fontManager.ttflist}
    for path in findSystemFonts():
        if Path(path).name not in known:
            with suppress(OSError, RuntimeError):  # damaged, or of a kind that it cannot read
                fontManager.addfont(path)
    families = {font.name for font in fontManager.ttflist}
    return [name for name in FALLBACKS if name in families]


@contextmanager
def noted_letters() -> Iterator[set[str]]:
    """Letters that Matplotlib warns of, instead of the warnings, also of fonts that have one weight only."""
    missing: set[str] = set()
    search = logging.getLogger("matplotlib.font_manager")
    level = search.level
    search.setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.filterwarnings("always", message=_GLYPH.pattern)
        usual = warnings.showwarning

        def note(message: Warning | str, *rest: Any, **more: Any) -> None:
            found = _GLYPH.match(str(message))
            if found is None:
                usual(message, *rest, **more)
            else:
                missing.add(chr(int(found[1])))

        warnings.showwarning = note
        try:
            yield missing
        finally:
            search.setLevel(level)


def missing_words(letters: set[str]) -> str:
    """What is missing from a picture, and what to install."""
    asian = any(unicodedata.name(letter, "").startswith(_EAST_ASIAN) for letter in letters)
    package = "fonts-noto-cjk" if asian else "fonts-noto-core or fonts-symbola"
    some = "".join(letter for letter in sorted(letters)[:_MOST_NAMED] if letter.isprintable())
    return (
        f"no installed font has {some!r}, so the picture shows boxes: install one that has "
        f"(Debian: {package}), or write .svg, which has letters and no drawings of them"
    )
