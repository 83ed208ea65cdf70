"""Sphinx settings of the manual; `make docs` builds it with warnings as errors."""

from __future__ import annotations

import raidsim

project = "raidsim"
author = "the raidsim authors"
copyright = author
version = release = raidsim.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_parser"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"raidsim {version}"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_default_options = {"members": True, "show-inheritance": True}

# In a console a line with "#" is taken for root's prompt, and an apostrophe in a comment of a YAML file for a string.
suppress_warnings = ["misc.highlighting_failure"]
