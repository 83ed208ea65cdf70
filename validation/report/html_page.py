"""A page in one file: sections with anchors, tables and pictures; for a phone, a screen and paper, with no script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

_STYLE = """
:root { --ink: #1f2933; --soft: #52606d; --line: #d9e2ec; --pale: #f3f6f9; --good: #1b7f4b; --bad: #b42318; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: #fff; max-width: 72rem; margin: 0 auto;
  padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 0.5rem; padding-top: 0.6rem; border-top: 2px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.4rem 0 0.4rem; }
p, ul { max-width: 48rem; }
nav { display: flex; flex-wrap: wrap; font-size: 0.9rem; line-height: 2; }
nav a { margin-right: 0.9rem; white-space: nowrap; }
a { color: #1f6fb4; }
.wide { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: 0.85rem; margin: 0.5rem 0 1rem; }
caption { text-align: left; font-weight: 600; padding: 0.2rem 0; }
th, td { padding: 0.22rem 0.6rem; text-align: right; border-bottom: 1px solid var(--line);
  font-variant-numeric: tabular-nums; white-space: nowrap; }
th { background: var(--pale); vertical-align: bottom; white-space: normal; }
td.word, th.word { text-align: left; white-space: normal; overflow-wrap: break-word; min-width: 7rem; }
.good { color: var(--good); }
.bad { color: var(--bad); }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem; }
figure { margin: 0; break-inside: avoid; max-width: 38rem; }
figcaption { font-size: 0.85rem; color: var(--soft); }
figure svg { width: 100%; height: auto; display: block; }
.note { color: var(--soft); font-size: 0.9rem; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { display: none; }
  table { font-size: 7.5pt; }
  .wide { overflow: visible; }
  th, td { padding: 0.1rem 0.3rem; }
  tr { break-inside: avoid; }
  thead { display: table-header-group; }
  .pictures { grid-template-columns: 1fr 1fr; }
}
""".strip()


@dataclass(frozen=True, slots=True)
class Mark:
    """A table's cell that is good or bad news."""

    text: str
    good: bool


Entry = str | Mark


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page, with its anchor and what it is called; `body` is HTML."""

    anchor: str
    title: str
    body: str


def paragraph(text: str, note: bool = False) -> str:
    """Text as HTML."""
    return f'<p class="note">{escape(text)}</p>' if note else f"<p>{escape(text)}</p>"


def heading(text: str, anchor: str) -> str:
    """The heading of a part of a section."""
    return f'<h3 id="{escape(anchor)}">{escape(text)}</h3>'


def bullets(items: Iterable[str]) -> str:
    """A list of texts as HTML."""
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def table(headings: Sequence[str], rows: Iterable[Sequence[Entry]], words: Sequence[int] = (0,)) -> str:
    """A table as HTML; the columns numbered in `words` hold words, all others numbers."""

    def one(tag: str, column: int, entry: Entry) -> str:
        kinds = ["word"] if column in words else []
        if isinstance(entry, Mark):
            kinds.append("good" if entry.good else "bad")
        attribute = f' class="{" ".join(kinds)}"' if kinds else ""
        scope = ' scope="col"' if tag == "th" else ""
        text = entry.text if isinstance(entry, Mark) else entry
        return f"<{tag}{scope}{attribute}>{escape(text)}</{tag}>"

    def line(tag: str, entries: Sequence[Entry]) -> str:
        return "<tr>" + "".join(one(tag, column, entry) for column, entry in enumerate(entries)) + "</tr>"

    body = "\n".join(line("td", row) for row in rows)
    return f'<div class="wide"><table><thead>{line("th", headings)}</thead><tbody>\n{body}\n</tbody></table></div>'


def pictures(drawn: Iterable[tuple[str, str]]) -> str:
    """Pictures side by side: (what each shows, SVG)."""

    def figure(caption: str, svg: str) -> str:
        said = escape(caption)
        named = svg.replace("<svg", f'<svg role="img" aria-label="{said}"', 1)
        return f"<figure>{named}<figcaption>{said}</figcaption></figure>"

    return f'<div class="pictures">{"".join(figure(*each) for each in drawn)}</div>'


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """The whole file; `lead` is HTML."""
    links = "".join(f'<a href="#{escape(s.anchor)}">{escape(s.title)}</a>' for s in sections)
    parts = "\n".join(
        f'<section id="{escape(s.anchor)}">\n<h2>{escape(s.title)}</h2>\n{s.body}\n</section>' for s in sections
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{_STYLE}
</style>
</head>
<body>
<h1>{escape(title)}</h1>
{lead}
<nav>{links}</nav>
<main>
{parts}
</main>
</body>
</html>
"""
