"""`raidsim scenario` and `raidsim schema` as a person runs them: listed, shown, changed, written, refused."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from raidsim.cli import main as cli
from raidsim.scenarios.documents.document import document_from, read_document
from raidsim.scenarios.documents.library import LIBRARY, library_names
from raidsim.scenarios.documents.schema import document_schema

Shown = tuple[object, str, str]
Raidsim = Callable[..., Shown]


@pytest.fixture
def raidsim(capsys: pytest.CaptureFixture[str]) -> Raidsim:
    """Runs a command; gives status, output and errors."""

    def run(*arguments: str) -> Shown:
        status: object = 0
        try:
            cli.main(arguments)
        except SystemExit as ended:
            status = ended.code
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_the_library_is_listed(raidsim: Raidsim) -> None:
    """Every name with what it is, as a table and as JSON."""
    status, out, err = raidsim("scenario")
    assert (status, err) == (0, "")
    assert all(name in out for name in library_names())
    assert max(map(len, out.splitlines())) <= 100
    _, out, _ = raidsim("scenario", "--json")
    assert [each["name"] for each in json.loads(out)["scenarios"]] == list(library_names())


def test_a_scenario_is_shown_as_it_is(raidsim: Raidsim) -> None:
    """Without changes it is the file, byte by byte."""
    assert raidsim("scenario", "home-nas") == (0, (LIBRARY / "home-nas.yaml").read_text(encoding="utf-8"), "")


def test_changes_are_made_where_they_belong(raidsim: Raidsim) -> None:
    """Only the lines that are changed differ, and comments stay."""
    _, out, _ = raidsim("scenario", "home-nas", "--set", "depth=9", "--set", "layout=raid6")
    before = (LIBRARY / "home-nas.yaml").read_text(encoding="utf-8").splitlines()
    different = [line for line in out.splitlines() if line not in before]
    assert different == ["  md0: {level: raid6, chunk: 512KiB, bitmap: 64MiB}", "  depth: 9"]


def test_a_value_that_others_share_changes_alone(raidsim: Raidsim, tmp_path: Path) -> None:
    """A YAML alias of a changed value keeps the old one."""
    path = tmp_path / "x.yaml"
    text = "machine: {drives: {a: &d {model: WD800JB}, b: *d, c: *d}}  # drives\n"
    path.write_text(text, encoding="utf-8")
    _, out, _ = raidsim("scenario", str(path), "--set", "machine.drives.a.model=WD2500JB")
    drives = document_from(out).spec().machine.drives
    assert [drive.model for drive in drives.values()] == ["WD2500JB", "WD800JB", "WD800JB"]
    assert "# drives" in out


def test_resolved_says_everything(raidsim: Raidsim) -> None:
    """All defaults, with units; in JSON in SI units."""
    _, out, _ = raidsim("scenario", "home-nas", "--resolved", "--set", "seed=5")
    assert out.startswith("# library:home-nas with every default filled in\n# --set seed=5\n")
    assert document_from(out).spec() == read_document("home-nas", ["seed=5"]).spec()
    assert "duration: 600s" in out
    _, out, _ = raidsim("scenario", "home-nas", "--resolved", "--json")
    assert json.loads(out)["scenario"]["workload"]["precision"] == 0.05
    _, out, _ = raidsim("scenario", "home-nas", "--json")
    assert json.loads(out) == {"name": "library:home-nas", "document": read_document("home-nas").data}


def test_a_copy_is_written_once(raidsim: Raidsim, tmp_path: Path) -> None:
    """Nothing is replaced without --force, and nothing else is left in the folder."""
    path = tmp_path / "mine.yaml"
    status, out, err = raidsim("scenario", "vm-host", "-o", str(path))
    assert (status, out, err) == (0, "", f"written: {path}\n")
    assert stat.S_IMODE(path.stat().st_mode) & 0o600 == 0o600
    status, _, err = raidsim("scenario", "home-nas", "-o", str(path))
    assert (status, err) == (2, f"error: --output: {path} exists already; expected: another name, or --force\n")
    assert read_document(path).data == read_document("vm-host").data
    assert raidsim("scenario", "home-nas", "-o", str(path), "--force")[0] == 0
    assert read_document(path).data == read_document("home-nas").data
    assert [each.name for each in tmp_path.iterdir()] == ["mine.yaml"]
    for bad in (tmp_path, tmp_path / "no" / "such.yaml", Path("/dev/null")):
        status, _, err = raidsim("scenario", "home-nas", "-o", str(bad), "--force")
        assert (status, err.count("\n")) == (2, 1)


def test_a_copy_elsewhere_keeps_its_meaning(raidsim: Raidsim, tmp_path: Path) -> None:
    """What extends a file beside it is merged when it is written to another folder, and keeps `extends` otherwise."""
    (tmp_path / "base.yaml").write_text("seed: 3\nworkload: {depth: 4}\n", encoding="utf-8")
    top = tmp_path / "top.yaml"
    top.write_text("extends: base.yaml  # the base\nworkload: {jobs: 2}\n", encoding="utf-8")
    (tmp_path / "else").mkdir()
    meant = read_document(top, ["workload.depth="]).data
    for name, keeps in (("copy.yaml", True), ("else/copy.yaml", False)):
        copy = tmp_path / name
        assert raidsim("scenario", str(top), "--set", "workload.depth=", "-o", str(copy))[0] == 0
        assert read_document(copy).data == meant == {"seed": 3, "workload": {"jobs": 2}}
        assert ("extends: base.yaml" in copy.read_text(encoding="utf-8")) == keeps


def test_a_part_of_an_inherited_list_changes_all_of_it(raidsim: Raidsim, tmp_path: Path) -> None:
    """A list is replaced as a whole, so the changed copy holds all of it."""
    top = tmp_path / "top.yaml"
    top.write_text("extends: library:catalan-2005\n", encoding="utf-8")
    _, out, _ = raidsim("scenario", str(top), "--set", "workload.steps.1.size=10MiB")
    assert document_from(out).data == read_document(top, ["workload.steps.1.size=10MiB"]).data


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hom-nas"], "did you mean 'home-nas'?"),
        (["missing.yaml"], "there is no such file"),
        (["home-nas", "--set", "depht=3"], "did you mean depth?"),
        (["home-nas", "--set", "depth=-3"], "--set depth: field workload.depth"),
        (["--resolved"], "found without a scenario"),
        (["home-nas", "--json", "-o", "x.yaml"], "found together with --output"),
    ],
)
def test_mistakes_are_one_line(raidsim: Raidsim, arguments: list[str], said: str) -> None:
    """Status 2, nothing on stdout."""
    status, out, err = raidsim("scenario", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_the_schema_is_printed_and_written(raidsim: Raidsim, tmp_path: Path) -> None:
    """One JSON document, the same in a file."""
    _, out, _ = raidsim("schema")
    assert json.loads(out) == document_schema()
    assert raidsim("schema", "-o", str(tmp_path / "s.json"))[0] == 0
    assert (tmp_path / "s.json").read_text(encoding="utf-8") == out
