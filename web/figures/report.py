"""What was found out about a design, as one page to take away: plain HTML that fetches nothing and runs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ... import __version__
from .markup import table_html
from .tables import Table

Section = tuple[str, Sequence[str], Sequence[tuple[Table, str]], Sequence[str]]
"""A heading, paragraphs, tables with their captions, and pictures as SVG."""

_STYLE = (
    "body{font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;line-height:1.45;"
    "color:#1b2733;background:#fff}h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem}"
    "pre{background:#f4f6f8;padding:1rem;overflow-x:auto;font-size:.85rem}"
    "table{margin-bottom:1.2rem}figure{margin:1rem 0;max-width:42rem;overflow-x:auto}"
    "svg{min-width:34rem}figcaption{opacity:.8;font-size:.875rem}"
    "@media print{body{margin:0;max-width:none}svg{min-width:0}pre{white-space:pre-wrap}figure,tr{break-inside:avoid}"
    "h2{break-after:avoid}}"
)


def report_html(title: str, load: str, sections: Sequence[Section], scenario: str) -> str:
    """The page.

    Parameters
    ----------
    title, load
        The design and its load in words.
    sections
        What was found, in order.
    scenario
        The scenario file, which gives all that again.
    """
    body = [f"<h1>{escape(title)}</h1>", f"<p>{escape(load)}</p>"]
    for heading, paragraphs, tables, pictures in sections:
        body.append(f"<h2>{escape(heading)}</h2>")
        body += [f"<p>{escape(words)}</p>" for words in paragraphs]
        body += pictures
        body += [table_html(table, caption) for table, caption in tables]
    body.append("<h2>The scenario</h2>")
    body.append(f'<pre tabindex="0" role="region" aria-label="The scenario">{escape(scenario)}</pre>')
    body.append(f"<p>Made with raidsim {escape(__version__)}.</p>")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        "<body><main>\n" + "\n".join(body) + "\n</main></body></html>\n"
    )
