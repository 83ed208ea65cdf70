"""Finding a drive by alias and model number in any spelling, and the nearest of its kind and class if it is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.drives import catalogue as drives
from raidsim.model.drives.catalogue import drive, drive_aliases, drive_name, drive_names
from raidsim.model.drives.search import drive_class, nearest_drives, plain_name, said_capacity


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("WD Red Plus 8TB", "WD-Red-Plus-8TB"),
        ("wd_red_plus_8tb", "WD-Red-Plus-8TB"),
        ("ST8000VN004", "IronWolf-8TB"),
        ("st8000vn004", "IronWolf-8TB"),
        ("990 PRO", "Samsung-990-PRO-2TB"),
        ("990pro", "Samsung-990-PRO-2TB"),
        ("Exos X24", "Exos-X24-24TB-SAS"),
        ("P5336", "Solidigm-D5-P5336-61440GB"),
        ("Optane P4800X", "Intel-Optane-P4800X-375GB"),
        ("null_blk", "null-block"),
        ("wd5000aaks", "WD5000AAKS"),
    ],
)
def test_a_drive_is_found_as_people_write_it(said: str, name: str) -> None:
    """Aliases and model numbers count as names; case, spaces and punctuation do not matter."""
    assert drive_name(said) == name
    assert drive(said) == drive(name)


def test_every_name_means_one_drive() -> None:
    """No alias is another drive's name, alias or model number."""
    for name in drive_names():
        assert drive_name(name) == name
        for alias in drive_aliases(name):
            assert drive_name(alias) == name
        assert drive_name(drive(name).model) == name


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        ("WD-Red-18TB", "WD-Red-Pro-20TB"),
        ("WD Red Plus 6TB", "WD-Red-Plus-8TB"),
        ("IronWolf 12TB", "IronWolf-10TB"),
        ("WD Gold 18TB", "WD-Gold-24TB"),
        ("Samsung 990 PRO 4TB", "Samsung-990-PRO-2TB"),
        ("Samsung-980-PRO-2TB", "Samsung-980-PRO-1TB"),
        ("WD2500JX", "WD2500JS"),
    ],
)
def test_an_unknown_drive_gets_the_nearest_of_its_kind_and_class(said: str, offered: str) -> None:
    """A hard disk is not answered with flash; the first offer is of the family, and nearest in capacity."""
    specs = {name: drive(name) for name in drive_names()}
    found = nearest_drives(said, specs)
    assert found[0] == offered
    assert len({drive_class(specs[name]) for name in found}) == 1
    with pytest.raises(InputError, match=rf"did you mean {offered}.*overrides: {{"):
        drive(said)


def test_the_message_says_how_to_override() -> None:
    """The example has the capacity that the name says, and of flash the spare as well; it is accepted."""
    with pytest.raises(InputError, match=r"{model: WD-Red-Pro-20TB, overrides: {capacity: 18TB}}"):
        drive("WD-Red-18TB")
    with pytest.raises(InputError, match=r"overrides: {capacity: 4TB, flash: 4\.3\d*TB}}"):
        drive("Samsung 990 PRO 4TB")
    drive("Samsung-990-PRO-2TB").with_values(capacity="4TB", flash="4.307TB")


def test_a_name_like_none_gets_no_offer() -> None:
    """A name that has nothing in common with any drive is not answered with a drive by chance."""
    with pytest.raises(InputError, match="expected: a name from `raidsim drives`") as caught:
        drive("xyzzy")
    assert "did you mean" not in str(caught.value)


def test_capacity_is_read_from_names() -> None:
    """As written, and as makers' model numbers have it."""
    assert said_capacity("WD Red Plus 8TB") == said_capacity("ST8000VN004") == said_capacity("WD80EFPX") == 8e12
    assert said_capacity("WD101EFBX") == 10e12
    assert said_capacity("Intel-S4510-960GB") == 960e9
    assert said_capacity("990 PRO") is None
    assert plain_name(" WD Red-Plus_8TB ") == "wdredplus8tb"


@pytest.mark.parametrize("wrong", ["aliases: WD Red", "aliases: [5]", "aliases: ['--']"])
def test_aliases_are_a_list_of_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    """Anything else is refused with its line."""
    path = tmp_path / "mine.yaml"
    path.write_text("# a comment\n" + wrong + "\n")
    with pytest.raises(InputError, match=r"mine\.yaml:2: field aliases.*list of names"):
        drives._aliases(path)


def test_an_alias_of_two_drives_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the file and the other drive."""
    for name in ("WD800JB", "WD2500JB"):
        text = (drives.CATALOGUE / f"{name}.yaml").read_text()
        (tmp_path / f"{name}.yaml").write_text(f"aliases: [Twice]\n{text}")
    files = {plain_name(path.stem): path for path in sorted(tmp_path.glob("*.yaml"))}
    monkeypatch.setattr(drives, "_by_stem", lambda: files)
    with pytest.raises(InputError, match=r"WD800JB\.yaml: field aliases: 'Twice', which WD2500JB has"):
        drives._by_alias.__wrapped__()
