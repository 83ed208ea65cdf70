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
        ("nullb0", "null-block"),
        ("null_blk irqmode=2", "null-block-timer"),
        ("wd5000aaks", "WD5000AAKS"),
        ("Seagate IronWolf 8TB", "IronWolf-8TB"),
        ("ironwolf 8 tb", "IronWolf-8TB"),
        ("ATA ST8000VN004-2M2101", "IronWolf-8TB"),
        ("Western Digital Red Plus 8TB", "WD-Red-Plus-8TB"),
        ("WDC WD80EFPX-68C4ZN0", "WD-Red-Plus-8TB"),
        ("Samsung SSD 990 PRO 2TB", "Samsung-990-PRO-2TB"),
        ("Seagate Exos X18 16TB", "Exos-X18-16TB"),
        ("ST16000NM000J", "Exos-X18-16TB"),
        ("Exos X20", "Exos-X20-20TB-SAS"),
        ("Exos 2X18", "Exos-2X18-18TB"),
        ("HGST Ultrastar He12", "Ultrastar-He12-12TB"),
        ("HGST HUH721212ALE600", "Ultrastar-He12-12TB"),
        ("Ultrastar HC550", "Ultrastar-DC-HC550-18TB"),
        ("WUH721818ALE6L4", "Ultrastar-DC-HC550-18TB"),
        ("WD Gold 12TB", "WD-Gold-12TB"),
        ("WDC WD80EFAX-68KNBN0", "WD-Red-8TB"),
        ("WD Blue 4TB", "WD-Blue-4TB"),
        ("Toshiba N300", "Toshiba-N300-8TB"),
        ("Crucial MX500", "Crucial-MX500-1TB"),
        ("CT1000MX500SSD1", "Crucial-MX500-1TB"),
        ("Samsung 870 EVO 1TB", "Samsung-870-EVO-1TB"),
        ("MZ-77E1T0B", "Samsung-870-EVO-1TB"),
        ("Intel DC S3700", "Intel-S3700-800GB"),
        ("INTEL SSDSC2BA800G3", "Intel-S3700-800GB"),
        ("MZQL23T8HCLS-00A07", "Samsung-PM9A3-3840GB"),
        ("WDC WD60EFAX-68JH4N1", "WD-Red-6TB-SMR"),
        ("Seagate Archive HDD v2 8TB", "Archive-HDD-8TB"),
        ("ST5000LM000-2AN170", "Barracuda-2.5-5TB-SMR"),
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
        ("HGST HUS724040ALA640", "Ultrastar-DC-HC310-6TB"),
        ("MG08ACA16TE", "Toshiba-MG11-24TB"),
        ("ST2000DM008", "Barracuda-7200.14-3TB"),
        ("Seagate ST4000DM005", "Desktop-HDD.15-4TB"),
        ("WD40EFRX", "WD-Red-8TB"),
        ("WD Black 4TB", "WD-Blue-4TB"),
        ("WD Red 3TB", "WD-Red-4TB-SMR"),
        ("15k SAS 600GB", "Ultrastar-C15K600-600GB"),
        ("10k SAS 1.2TB", "Savvio-10K.4-600GB"),
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
    """The example has the capacity that the name says; what goes with it in a family follows."""
    with pytest.raises(InputError, match=r"{model: WD-Red-Pro-20TB, overrides: {capacity: 18TB}}"):
        drive("WD-Red-18TB")
    with pytest.raises(InputError, match=r"{model: Samsung-990-PRO-2TB, overrides: {capacity: 4TB}}"):
        drive("Samsung 990 PRO 4TB")
    drive("Samsung-990-PRO-2TB").with_values(capacity="4TB")


@pytest.mark.parametrize(
    "said", ["WD Blue 3TB", "WD Purple 4TB", "WD40EFRX", "Seagate Barracuda 4TB Pro", "ST8000VN022"]
)
def test_a_shingled_drive_is_not_offered_for_another_family(said: str) -> None:
    """It behaves so differently that only a name with all of its words, or its number, means it."""
    specs = {name: drive(name) for name in drive_names()}
    assert not any("shingled" in drive_class(specs[name]) for name in nearest_drives(said, specs))


def test_a_name_is_looked_up_without_building_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mechanics of a hundred drives take seconds; an alias or a number is found without them."""
    drives._by_alias.cache_clear()
    monkeypatch.setattr(drives, "_read", lambda path: pytest.fail(f"{path} was read"))
    assert drive_name("ST8000VN004") == "IronWolf-8TB"


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
