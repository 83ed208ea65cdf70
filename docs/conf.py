"""Sphinx settings of the manual; `make docs` builds it with warnings as errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import raidsim

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "raidsim"
author = "the raidsim authors"
copyright = author
version = release = raidsim.__version__

# shown_runs: commands and programs of the lessons are run when their pages are built. native_math: equations without a
# script from elsewhere. from_code: reference tables that are made from the code. house_picture: the rooms and their
# arrows.
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_nb"]
extensions += ["shown_runs", "native_math", "from_code", "house_picture"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["pictures.css"]
html_title = f"raidsim {version}"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Pages that begin with `file_format: mystnb` are notebooks: one that has changed is run, in an empty folder.
nb_execution_mode = "cache"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
os.environ["RAIDSIM_PROGRESS"] = "0"  # how long something took is not part of a page

napoleon_google_docstring = False
napoleon_use_rtype = False
# Members are on the page itself; in the contents of every other one they would take as long as all else to build.
toc_object_entries = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_default_options = {"members": True, "show-inheritance": True}

# In a console a line with "#" is taken for root's prompt, and an apostrophe in a comment of a YAML file for a string.
# The type `bytes` has the name of attributes.
suppress_warnings = ["misc.highlighting_failure", "ref.python"]
