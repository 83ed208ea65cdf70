"""Text from anyone made harmless for the page."""

from __future__ import annotations

import re

_LINKED = re.compile(r"[a-z]:(?=//)|www(?=\.)|@", re.IGNORECASE)
"""Where what looks like an address becomes a link without being asked; a space of no width is put there."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$:<>&@/])")


def plain(text: str) -> str:
    """Text as Markdown shows it letter by letter: no links, pictures or formulas."""
    return _SPECIAL.sub(r"\\\1", _LINKED.sub("\\g<0>\u200b", " ".join(text.split())))
