"""The directives of the manual that run what they show: they show it all, and a page that fails fails the build."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import raidsim

DOCS = Path(raidsim.__file__).parent / "docs"
SETTINGS = f"""
import sys
sys.path.insert(0, {str(DOCS / "_ext")!r})
extensions = ["myst_parser", "shown_runs"]
suppress_warnings = ["toc.not_included"]
"""
GOOD = """# A page

```{raidsim}
$ raidsim layout --level raid1 \\
    --disks 2
```

```{raidsim}
:exit: 2
$ raidsim layout --level raid9 --disks 2
```

```{raidsim}
:quiet:
$ raidsim layout --level raid1 --disks 3
```

```{raidsim-python}
:picture: drawn.svg
:alt: nothing but axes
:caption: An *empty* page
import matplotlib.pyplot as plt

plt.figure(figsize=(1, 1))
plt.savefig("drawn.svg")
print("drawn", 6 * 7)
```
"""
BAD = {
    "```{raidsim}\n$ raidsim layout --level raid9 --disks 2\n```\n": "ended with status 2",
    "```{raidsim}\n:exit: 1\n$ raidsim layout --level raid9 --disks 3\n```\n": "ended with status 2",
    "```{raidsim}\nlayout --level raid1 --disks 2\n```\n": "each line must begin with",
    "```{raidsim-python}\n1 / 0\n```\n": "ZeroDivisionError",
    "```{raidsim-python}\n:picture: none.svg\n:alt: nothing\nprint(1)\n```\n": "no picture none.svg was written",
    "```{raidsim-python}\n:picture: none.svg\nprint(2)\n```\n": "a picture needs :alt:",
}


def built(folder: Path) -> subprocess.CompletedProcess[str]:
    """The manual in a folder, in its `out`."""
    (folder / "conf.py").write_text(SETTINGS, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(folder), str(folder / "out")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_shows_what_comes_out(tmp_path: Path) -> None:
    """Protects the pages: commands, what they print or refuse, programs and pictures with words for them are there."""
    (tmp_path / "index.md").write_text(GOOD, encoding="utf-8")
    done = built(tmp_path)
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    for shown in ("RAID 1: 2 disks", "unknown level", "drawn 42\n", 'alt="nothing but axes"', "An <em>empty</em> page"):
        assert shown in html
    assert "RAID 1: 3 disks" not in html
    assert "layout --level raid1 --disks 3" in re.sub("<[^>]*>", "", html)
    assert list((tmp_path / "out" / "_images").glob("drawn*.svg"))


def test_a_page_that_fails_fails_the_build(tmp_path: Path) -> None:
    """Protects readers from commands and programs that went wrong, and from pictures that say nothing to the blind."""
    (tmp_path / "index.md").write_text("# Pages\n", encoding="utf-8")
    for number, page in enumerate(BAD):
        (tmp_path / f"page{number}.md").write_text(f"# Page\n\n{page}", encoding="utf-8")
    done = built(tmp_path)
    assert done.returncode != 0
    for number, message in enumerate(BAD.values()):
        (said,) = [part for part in done.stderr.split(str(tmp_path)) if part.startswith(f"/page{number}.md")]
        assert message in said
