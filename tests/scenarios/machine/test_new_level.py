"""A level of a new kind is its layout, its array and its row in the table of levels."""

from __future__ import annotations

from pathlib import Path

from raidsim.tests.manual_pages import ROOT, checkout_with, run_python

LAYOUT = '''
"""RAID 0 under another name."""
from typing import ClassVar
from .striped import StripedLayout
class OtherStripe(StripedLayout):
    __slots__ = ()
    algorithms: ClassVar = {"raid7": ("",)}
    @classmethod
    def made(cls, level, member_bytes, chunk_bytes, algorithm, copies):
        layout = cls(member_bytes, chunk_bytes, "original")
        layout.level, layout.algorithm = level, None
        return layout
'''
ARRAY = '''
"""A stripe of its own."""
from .stripe import StripeArray
class OtherArray(StripeArray):
    __slots__ = ()
    levels = ("raid7",)
'''
ROW = """
        Level(
            name="raid7", redundancy="none", least=2, spares=False, failures_in_a_run=False, checks=False
        ),
    )
}
"""
PROGRAM = """
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running.simulate import simulate
from raidsim.model.layouts import layout_for
from raidsim.web.form.choices import FIELDS, offer
from raidsim.web.form.fields import Form
text = "{machine: {drives: {model: WD5000AAKS, count: 3}}, arrays: {md0: raid7}, workload: {duration: 50ms}}"
spec = document_from(text).spec()
(array,) = BuiltMachine(spec).arrays.values()
print(type(array).__name__, array.layout.level, simulate(spec).rate > 0, "raid7" in offer("level", Form()))
"""


def test_a_level_is_three_files(tmp_path: Path) -> None:
    """Protects the way to a new level: nothing else has to be changed, from scenario files to the explorer."""
    root = checkout_with(
        tmp_path, {"model/layouts/other_stripe.py": LAYOUT, "model/raid/striped/other_array.py": ARRAY}
    )
    table = root / "model/layouts/levels.py"
    before, marker, after = (ROOT / "model/layouts/levels.py").read_text(encoding="utf-8").partition("    )\n}\n")
    assert marker
    table.unlink()
    table.write_text(before + ROW.lstrip("\n") + after, encoding="utf-8")
    done = run_python(root, "-c", PROGRAM)
    assert done.stdout.split() == ["OtherArray", "raid7", "True", "True"], done.stderr
