"""Equations as MathML, which browsers draw by themselves: a page needs no script, and nothing from elsewhere."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from latex2mathml.converter import convert

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.writers.html5 import HTML5Translator

STYLE = Path(__file__).with_name("native_math")


def _mathml(node: nodes.math | nodes.math_block, display: str) -> str:
    """The equation of a node, with its source as the text that a screen reader may take instead."""
    source = node.astext().strip()
    written = convert(source, display=display)
    return written.replace("<math ", f'<math alttext="{html.escape(" ".join(source.split()), quote=True)}" ', 1)


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write an equation that stands in a line of text."""
    translator.body.append(_mathml(node, "inline"))
    raise nodes.SkipNode


def visit_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write an equation that stands by itself; one that is wider than the page can be scrolled."""
    names = f' id="{node["ids"][0]}"' if node.get("ids") else ""
    label = "Equation, may be wider than the page"
    translator.body.append(f'<div class="equation" role="group" tabindex="0" aria-label="{label}"{names}>')
    translator.body.append(_mathml(node, "block"))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def _add_style(_: Sphinx, config: Config) -> None:
    config.html_static_path.append(str(STYLE))


def setup(app: Sphinx) -> dict[str, Any]:
    """Make it the way in which HTML shows equations."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "mathml"
    app.connect("config-inited", _add_style)
    app.add_css_file("equations.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
