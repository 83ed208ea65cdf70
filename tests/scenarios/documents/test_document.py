"""Documents: shorthands and defaults, changes by path and alias, what they extend, and what errors point at."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

import raidsim
from raidsim.model.core.errors import InputError
from raidsim.model.files.description import Duration, Frequency, Rate, Size
from raidsim.model.files.description_errors import load_spec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents import schema
from raidsim.scenarios.documents.changes.assignment import format_path, parse_alternatives, parse_assignment, parse_path
from raidsim.scenarios.documents.document import Document, document_from, read_document
from raidsim.scenarios.documents.written import written

EXAMPLES = [
    path
    for path in sorted((Path(raidsim.__file__).parent / "docs" / "examples").glob("*.yaml"))
    if "    prices:\n" in path.read_text(encoding="utf-8")
]
"""Files that leave nothing out."""
FOUR = "machine: {drives: {model: WD5000AAKS, count: 4}}\n"


def spec_of(text: str, *sets: str) -> ScenarioSpec:
    """The scenario that a document comes to."""
    return document_from(text, "some.yaml", sets).spec()


def refused(text: str, *sets: str) -> InputError:
    """What is said about a document that is wrong."""
    with pytest.raises(InputError) as caught:
        spec_of(text, *sets)
    return caught.value


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_file_that_says_everything_means_what_it_says(path: Path) -> None:
    """Nothing is filled in or changed where a file is complete already."""
    assert read_document(path).spec() == load_spec(ScenarioSpec, path)


def test_a_name_is_enough_for_a_scenario() -> None:
    """Machine, kernel, drives with ports, load and targets all have defaults."""
    spec = spec_of("name: nothing else")
    assert (spec.name, spec.kernel, spec.workload.kind) == ("nothing else", "linux-6.1", "load")
    assert spec.machine.name == "server"
    assert list(spec.machine.drives) == [f"disk{n}" for n in range(8)]
    assert [drive.channel for drive in spec.machine.drives.values()] == [f"port{n}" for n in range(8)]
    assert spec.workload.kind == "load"
    assert spec.workload.targets == tuple(spec.machine.drives)


def test_the_file_gives_its_name_to_a_scenario_without_one() -> None:
    """The title is the stem of the file."""
    assert spec_of("seed: 1").name == "some"


@pytest.mark.parametrize(
    ("model", "kind", "rate"),
    [("Exos-X20-20TB-SAS", "sata", 1.2e9), ("IronWolf-Pro-20TB", "sata", 6e8), ("WD800JB", "ata", 1e8)]
    + [("DDRS-34560", "scsi", 8e7)],
)
def test_a_drive_gets_the_port_that_its_interface_needs(model: str, kind: str, rate: float) -> None:
    """A port of its own, as fast as the drive's interface, and serial only for drives that are."""
    machine = spec_of(f"machine: {{drives: {{model: {model}, count: 2}}}}").machine
    assert [(port.kind, port.rate) for port in machine.channels.values()] == [(kind, rate)] * 2


def test_what_is_given_of_a_machine_changes_the_catalogues() -> None:
    """A named machine keeps all that is not given; drives in short keep their model, CPUs their prices."""
    plain = spec_of("machine: nas").machine
    changed = spec_of("machine: {model: nas, memory: 8GiB, cpu: {cores: 2}, drives: {count: 2}}").machine
    assert (changed.memory, changed.cpu.cores, len(changed.drives)) == (8 << 30, 2, 2)
    assert changed.cpu.prices == plain.cpu.prices
    assert {drive.model for drive in changed.drives.values()} == {"IronWolf-Pro-20TB"}
    assert changed.links == plain.links


def test_one_of_equal_drives_may_be_different() -> None:
    """What is said about disk1 holds for disk1 alone."""
    drives = spec_of(
        "machine: {drives: {model: WD5000AAKS, count: 3, disk1: {overrides: {queue_depth: 1}}}}"
    ).machine.drives
    assert [drive.spec().queue_depth for drive in drives.values()] == [32, 1, 32]


def test_an_array_takes_the_drives_that_nothing_else_uses() -> None:
    """Members not given are all free drives; numbers of members and spares take some of them."""
    text = FOUR + "arrays: {md0: {level: raid5, spares: 1}}"
    array = spec_of(text).arrays["md0"]
    assert (array.members, array.spares) == (("disk0", "disk1", "disk2"), ("disk3",))
    two = spec_of(FOUR + "arrays: {a: {level: raid1, members: [disk1, disk2]}, b: raid1}").arrays
    assert two["b"].members == ("disk0", "disk3")
    three = spec_of(FOUR + "arrays: {a: {level: raid1, members: 2}, b: {level: raid0, members: 2}}").arrays
    assert (three["a"].members, three["b"].members) == (("disk0", "disk1"), ("disk2", "disk3"))
    assert "left out in one array only" in str(refused(FOUR + "arrays: {a: raid1, b: raid1}"))


@pytest.mark.parametrize(("count", "level"), [(2, "raid1"), (3, "raid5"), (4, "raid6")])
def test_an_array_without_a_level_survives_what_its_drives_allow(count: int, level: str) -> None:
    """The level that is taken depends on the number of members."""
    assert (
        spec_of(f"machine: {{drives: {{count: {count}}}}}\narrays: {{md0: }}", "arrays.md0={}").arrays["md0"].level
        == level
    )


def test_numbers_of_lost_members_are_the_first_ones() -> None:
    """`failed: 1` and `rebuilding: 1` name the first member; `state` sets both."""
    array = spec_of(FOUR + "arrays: {md0: {level: raid5, failed: 1}}").arrays["md0"]
    assert (array.failed, array.rebuilding) == (("disk0",), ())
    lost = ("disk0",)
    for state, failed, rebuilding in (("degraded", lost, ()), ("rebuilding", lost, lost), ("whole", (), ())):
        array = spec_of(FOUR + "arrays: {md0: {level: raid5, failed: 1}}", f"state={state}").arrays["md0"]
        assert (array.failed, array.rebuilding) == (failed, rebuilding)


def test_a_controller_by_its_model_becomes_one_of_the_machine() -> None:
    """Its drives hang on it and not on the machine's host adapter; `none` takes it away again."""
    document = document_from("arrays: {md0: raid5}", "some.yaml", ["controller=LSI-9260-8i"])
    spec = document.spec()
    assert spec.arrays["md0"].controller == "raid"
    assert spec.machine.controllers["raid"].model == "LSI-9260-8i"
    assert {port.links for port in spec.machine.channels.values()} == {()}
    assert document.changed({"controller": "none"}).spec().arrays["md0"].controller is None


def test_a_controller_takes_what_is_not_the_kernels() -> None:
    """The bitmap of a kernel's array is dropped by the short name, which a comparison varies, and by it alone."""
    document = document_from("arrays: {md0: {level: raid10, algorithm: far, bitmap: 64MiB}}", "some.yaml")
    assert document.changed({"controller": "LSI-9260-8i"}).spec().arrays["md0"].bitmap is None
    assert document.changed({"controller": "none"}).spec().arrays["md0"].bitmap == 64 << 20
    with pytest.raises(InputError, match="far on a controller"):
        document.changed({"arrays.md0.controller": "LSI-9260-8i"}).spec()
    with pytest.raises(InputError, match="unknown controller 'LSI-9260'; did you mean LSI-9260-8i"):
        document.changed({"controller": "LSI-9260"}).spec()


def test_paths_are_checked_without_what_fields_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects a short run of a document with a null: the meaning of fields is read from the source, which takes longer
    than the run. The structure is that of the schema.
    """
    monkeypatch.setattr(schema, "field_words", None)
    schema.document_structure.cache_clear()
    assert document_from("workload: {locality: null}", "some.yaml").data == {"workload": {}}
    monkeypatch.undo()
    assert undescribed(schema.document_structure()) == undescribed(schema.document_schema())


def undescribed(of: Any) -> Any:
    """A schema without its descriptions."""
    if isinstance(of, list):
        return [undescribed(each) for each in of]
    if isinstance(of, dict):
        words = [key for key, value in of.items() if key == "description" and isinstance(value, str)]
        return {key: undescribed(value) for key, value in of.items() if key not in words}
    return of


def test_a_misspelt_key_that_is_null_is_refused() -> None:
    """Null removes, so nothing after the merge would notice a key that means nothing."""
    with pytest.raises(InputError, match=r"some.yaml:2: there is no 'workload.localty'; did you mean"):
        document_from("extends: library:database-server\nworkload: {localty: null}", "some.yaml")
    with pytest.raises(InputError, match="there is no 'root:x:0'"):
        document_from("root:x:0:\n", "some.yaml")
    assert document_from("workload: {locality: null, depth: }\narrays:", "some.yaml").data == {"workload": {}}


def test_one_drive_of_an_extended_scenario_is_different() -> None:
    """A drive without a model stands beside those below; one with a model takes their place."""
    text = "extends: library:database-server\nmachine: {{drives: {{{}}}}}"
    drives = document_from(text.format("disk2: {price: 9}"), "some.yaml").spec().machine.drives
    assert (len(drives), drives["disk1"].price, drives["disk2"].price) == (8, None, 9)
    own = document_from(text.format("sda: WD800JB, sdb: WD800JB") + "\nworkload: {span: null}", "some.yaml").spec()
    assert list(own.machine.drives) == ["sda", "sdb"]
    with pytest.raises(InputError, match=r"machine\.drives: found 4; expected: \{model"):
        document_from("machine: {drives: 4}", "some.yaml").spec()


def test_loads_go_to_the_top() -> None:
    """Targets not given are what nothing else is built of; a dd and programs are known by their fields."""
    stacked = (
        "arrays: {a: {level: raid1, members: 2}, b: {level: raid1, members: 2}, c: {level: raid0, members: [a, b]}}"
    )
    assert spec_of(FOUR + stacked).workload.targets == ("c",)  # type: ignore[union-attr]
    dd = spec_of(FOUR + "arrays: {md0: raid5}\nkernel: linux-2.6.8\nworkload: {direction: write}").workload
    assert (dd.kind, dd.targets) == ("dd", ("md0",))  # type: ignore[union-attr]
    programs = spec_of(FOUR + "arrays: {md0: raid5}\nkernel: linux-2.6.8\nworkload: {steps: [{program: postmark}]}")
    assert (programs.workload.kind, programs.file_systems["/data"].on) == ("programs", "md0")


@pytest.mark.parametrize(
    ("change", "at", "expected"),
    [
        ("disks=3", ("machine", "drives"), 3),
        ("drive=WD2500JS", ("machine", "drives", "disk0", "model"), "WD2500JS"),
        ("level=raid6", ("arrays", "md0", "level"), "raid6"),
        ("chunk=128KiB", ("arrays", "md0", "chunk"), 131072),
        ("depth=7", ("workload", "depth"), 7),
        ("read_share=30%", ("workload", "read_share"), 0.3),
        ("duration=3s", ("workload", "duration"), 3.0),
        ("kernel=linux-2.6.8", ("kernel",), "linux-2.6.8"),
        ("memory=8GiB", ("machine", "memory"), 8 << 30),
        ("machine.links.hba.rate=1GB/s", ("machine", "links", "hba", "rate"), 1e9),
        (
            "machine.drives.disk1.overrides.queue_depth=1",
            ("machine", "drives", "disk1", "overrides"),
            {"queue_depth": 1},
        ),
        ("cpu=nas-core", ("machine", "cpu", "clock"), 2e9),
    ],
)
def test_changes_reach_what_they_name(change: str, at: tuple[str, ...], expected: Any) -> None:
    """Every alias and path changes its own field of the scenario, and `changed` does what `--set` does."""
    base = "machine: {model: server, drives: {model: WD5000AAKS, count: 4}}\narrays: {md0: raid5}\n"
    document = document_from(base, "some.yaml", [change])
    value: Any = document.spec().model_dump()
    for key in at:
        value = value[key]
    assert (len(value) if at == ("machine", "drives") else value) == expected
    assert document_from(base, "some.yaml").changed(dict([parse_assignment(change)])) == document


def test_another_layout_leaves_behind_what_belongs_to_the_old_one() -> None:
    """`layout` drops options of the old level, `level` keeps them; a mapping brings options of its own."""
    text = FOUR + "arrays: {md0: {level: raid10, algorithm: far, copies: 2, chunk: 128KiB}}"
    array = spec_of(text, "layout=raid5").arrays["md0"]
    assert (array.level, array.algorithm, array.copies, array.chunk) == ("raid5", None, None, 131072)
    assert "far" in str(refused(text, "level=raid5"))
    assert spec_of(text, "layout={level: raid01, groups: 2}").arrays["md0"].groups == 2


def test_one_thing_sets_the_pace() -> None:
    """iops takes the place of depth, and depth that of iops."""
    workload = spec_of("workload: {depth: 8}", "iops=50").workload
    assert (workload.depth, workload.iops) == (1, 50.0)  # type: ignore[union-attr]
    assert spec_of("workload: {iops: 8}", "depth=4").workload.iops is None  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("machine.memry", "did you mean machine.memory or memory?"),
        ("dept", "did you mean depth?"),
        ("workload.memory", "did you mean memory"),
        ("arrays.md1.level", "there is no 'md1' in arrays; expected: md0"),
        ("workload.targets.0", "not given"),
        ("name.first", "nothing is allowed there"),
        ("a..b", "the path 'a..b'"),
    ],
)
def test_a_path_that_means_nothing_is_refused_with_close_ones(path: str, said: str) -> None:
    """A slip of the pen never goes unnoticed."""
    assert said in str(refused("arrays: {md0: raid1}\nmachine: {drives: {count: 2}}", f"{path}=1"))


def test_aliases_of_the_only_array_need_one() -> None:
    """With several arrays the path must say which; without any the alias makes one."""
    assert "arrays.NAME.level" in str(
        refused(FOUR + "arrays: {a: {level: raid1, members: 2}, b: raid1}", "layout=raid0")
    )
    assert spec_of(FOUR, "layout=raid6").arrays["md0"].members == ("disk0", "disk1", "disk2", "disk3")


def test_drives_that_are_listed_cannot_be_counted() -> None:
    """`disks` is refused where drives have names of their own, `drive` changes all of them."""
    text = "machine: {drives: {sda: WD5000AAKS, sdb: {model: WD5000AAKS}}}"
    assert "sda, sdb" in str(refused(text, "disks=3"))
    assert {drive.model for drive in spec_of(text, "drive=WD2500JS").machine.drives.values()} == {"WD2500JS"}


@pytest.mark.parametrize("machine", ["machine: nas\n", "machine: {memory: 8GiB}\n", ""])
def test_what_all_drives_of_a_machine_share_is_set_without_their_model(machine: str) -> None:
    """Protects machine.drives.scheduler and its like: the model and number come from the machine's catalogue entry."""
    text = machine + "arrays: {md0: {level: raid5}}\n"
    before = spec_of(text).machine.drives
    after = spec_of(text, "machine.drives.scheduler=bfq", "machine.drives.nr_requests=64").machine.drives
    assert {name: drive.model for name, drive in after.items()} == {name: drive.model for name, drive in before.items()}
    assert {(drive.scheduler, drive.nr_requests) for drive in after.values()} == {("bfq", 64)}
    with pytest.raises(InputError) as caught:
        spec_of(text, "machine.drives.scheduler=foo")
    assert caught.value.found == "found unknown scheduler 'foo'"
    assert caught.value.expected.endswith(", none"), "said once of drives that were written once"


def test_what_all_drives_share_is_not_set_where_they_are_listed() -> None:
    """Protects against a drive called "scheduler" beside those that are there."""
    with pytest.raises(InputError, match=r"given one by one; expected: machine\.drives\.sda\.scheduler and the like"):
        spec_of("machine: {drives: {sda: WD2500JS, sdb: WD2500JS}}", "machine.drives.scheduler=bfq")


def test_a_refusal_of_a_whole_value_names_the_options_that_changed_it() -> None:
    """Protects users from a line of the library that is right: an array is refused because of their --set."""
    library = read_document("library:home-nas")
    line = library.positions.place(("arrays", "md0"))
    for sets, options in (
        (["chunk=63KiB"], " with --set chunk"),
        (["chunk=63KiB", "arrays.md0.bitmap=none", "depth=2"], " with --set chunk, --set arrays.md0.bitmap"),
    ):
        with pytest.raises(InputError) as caught:
            read_document("library:home-nas", sets).spec()
        assert caught.value.place == f"{line}{options}: field arrays.md0"
    with pytest.raises(InputError) as caught:
        document_from(FOUR + "arrays: {md0: {level: raid5, chunk: 63KiB}}", "own").spec()
    assert "with" not in caught.value.place


def test_assignments_are_yaml_and_need_units() -> None:
    """Values are YAML 1.2 scalars and flows, and nothing removes."""
    assert parse_assignment("a.b=[x, {y: 1}]") == ("a.b", ["x", {"y": 1}])
    assert parse_assignment("a=no") == ("a", "no")
    assert parse_assignment("a=") == ("a", None)
    assert parse_assignment("a=b=c") == ("a", "b=c")
    assert "has no unit" in str(refused("name: x", "duration=5"))
    for bad in ("a", "=3", "a=[1", "a=!!python/object:os.system {}"):
        with pytest.raises(InputError):
            parse_assignment(bad)


def test_commas_separate_alternatives_outside_brackets_only() -> None:
    """Lists, mappings and quoted texts are one alternative each; the same one twice is refused."""
    assert parse_alternatives("layout=raid5,raid6") == ("layout", ["raid5", "raid6"])
    flows = 'x=[1, 2],{a: 1, b: 2},"p,q",3'
    assert parse_alternatives(flows) == ("x", [[1, 2], {"a": 1, "b": 2}, "p,q", 3])
    for bad in ("x=1,1", "x=1,,2", "x=[1,2"):
        with pytest.raises(InputError):
            parse_alternatives(bad)


def test_text_extends_the_library_only() -> None:
    """A text has no folder whose files it could mean, and `--set` follows nothing."""
    assert spec_of("extends: library:home-nas").machine.name == "NAS"
    assert "expected: library:NAME" in str(refused("extends: pyproject.yaml"))
    assert "expected: in a file" in str(refused("name: x", "extends=library:home-nas"))


def test_paths_go_both_ways() -> None:
    """Dots in quotes are part of a name, numbers in brackets are places."""
    path = ("file_systems", "/a.b", "steps", 3)
    assert parse_path('file_systems."/a.b".steps[3]', "") == path
    assert parse_path(format_path(path), "") == path


def test_documents_travel_and_compare() -> None:
    """Pickled, hashed and changed without touching the original."""
    document = document_from(FOUR, "some.yaml")
    assert pickle.loads(pickle.dumps(document)) == document
    other = document.changed({"depth": 3})
    assert (hash(other) != hash(document), other != document) == (True, True)
    assert "workload" not in document.data


class TestExtends:
    """A document laid over another one."""

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def write(self, name: str, text: str) -> Path:
        """A file in the test's folder."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, text: str) -> Document:
        """A document in the test's folder."""
        return read_document(self.write("top.yaml", text))

    def test_mappings_are_merged_and_all_else_replaced(self) -> None:
        """Lists and values of the upper document count, null removes, and the rest remains."""
        self.write(
            "base.yaml", FOUR + "seed: 3\narrays: {md0: {level: raid5, members: [disk0, disk1, disk2], chunk: 4KiB}}"
        )
        text = "extends: base.yaml\nseed: null\narrays: {md0: {members: [disk1, disk2, disk3], chunk: }}"
        spec = self.read(text).spec()
        array = spec.arrays["md0"]
        assert (spec.seed, array.level, array.members, array.chunk) == (0, "raid5", ("disk1", "disk2", "disk3"), 524288)

    def test_another_kind_takes_nothing_over(self) -> None:
        """A dd has no use for the depth of the load that it replaces."""
        self.write("base.yaml", FOUR + "workload: {kind: load, depth: 8}")
        assert self.read("extends: base.yaml\nworkload: {kind: dd}\nkernel: linux-2.6.8").spec().workload.kind == "dd"
        assert self.read("extends: base.yaml\nworkload: {jobs: 2}").spec().workload.depth == 8  # type: ignore[union-attr]

    def test_the_library_can_be_extended(self) -> None:
        """`library:NAME` from anywhere."""
        spec = self.read("extends: library:home-nas\nmachine: {memory: 16GiB}").spec()
        assert (spec.machine.memory, spec.machine.name, spec.name) == (16 << 30, "NAS", "home NAS")
        with pytest.raises(InputError, match="did you mean 'home-nas'"):
            self.read("extends: library:home-na")

    def test_errors_name_the_file_that_a_value_is_from(self) -> None:
        """A base's value is reported with the base's line, an option's as the option, through merges and shorthands."""
        base = self.write("inner/base.yaml", "seed: 1\nmachine:\n  drives: {model: Nothing, count: 2}\n")
        document = self.read("# nothing here\nextends: inner/base.yaml\nkernel: linux-9\n")
        with pytest.raises(InputError) as caught:
            document.spec()
        assert caught.value.place == f"{base}:3: field machine.drives.model"
        mended = document.changed({"drive": "WD5000AAKS"})
        with pytest.raises(InputError) as caught:
            mended.spec()
        assert caught.value.place == f"{self.folder / 'top.yaml'}:3: field kernel"
        with pytest.raises(InputError) as caught:
            mended.changed({"kernel": "linux-6.1", "arrays": {"md0": {"level": "raid9"}}}).spec()
        assert caught.value.place == "--set arrays: field arrays.md0.level"

    def test_a_circle_is_refused_with_its_names(self) -> None:
        """Files that extend each other end in one message."""
        self.write("a.yaml", "extends: b.yaml")
        self.write("b.yaml", "extends: top.yaml")
        with pytest.raises(InputError, match=r"a circle: .*top.yaml -> .*a.yaml -> .*b.yaml -> .*top.yaml"):
            self.read("extends: a.yaml")

    def test_a_chain_has_an_end(self) -> None:
        """Sixteen files may follow each other, and no more."""
        for number in range(20):
            self.write(f"f{number}.yaml", f"extends: f{number + 1}.yaml" if number < 19 else "name: end")
        assert read_document(self.folder / "f3.yaml").spec().name == "end"
        with pytest.raises(InputError, match="a chain of more than 16 files"):
            read_document(self.folder / "f0.yaml")

    @pytest.mark.parametrize(
        "named",
        ["/etc/passwd", "../x.yaml", "a/../../x.yaml", "C:\\x.yaml", "..\\x", "link.yaml", "missing.yaml", "[a]", "''"],
    )
    def test_nothing_outside_the_folder_is_read(self, named: str) -> None:
        """Absolute paths, steps upwards and links that lead out are refused, and so is what is not there."""
        outside = self.folder.parent / f"{self.folder.name}-outside.yaml"
        outside.write_text("name: secret", encoding="utf-8")
        (self.folder / "link.yaml").symlink_to(outside)
        with pytest.raises(InputError) as caught:
            self.read(f"extends: {named}")
        assert "top.yaml:1: field extends" in caught.value.place
        assert "expected: a file in the same folder or below it, or library:NAME" in caught.value.expected
        outside.unlink()

    def test_what_is_extended_is_checked_as_well(self) -> None:
        """A base that is no mapping is refused under its own name."""
        self.write("base.yaml", "- 1")
        with pytest.raises(InputError, match=r"base.yaml:1: not a mapping"):
            self.read("extends: base.yaml")


def test_documents_are_found_by_file_and_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library scenario by its bare name or with `library:`; a file of that name comes first."""
    monkeypatch.chdir(tmp_path)
    assert read_document("home-nas").name == read_document("library:home-nas").name == "library:home-nas"
    Path("home-nas").write_text(yaml.safe_dump({"name": "mine"}), encoding="utf-8")
    assert read_document("home-nas").name == "home-nas"
    with pytest.raises(InputError, match="did you mean 'vm-host'"):
        read_document("vm-hots")
    with pytest.raises(InputError, match="there is no such file"):
        read_document("vm-host.yaml")


class _Quantities(BaseModel):
    size: Size | None = None
    time: Duration | None = None
    rate: Rate | None = None
    clock: Frequency | None = None


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("size", "B kB MB GB TB KiB MiB GiB TiB"),
        ("time", "ns us ms s min h d"),
        ("rate", "kB/s MB/s GB/s KiB/s MiB/s GiB/s"),
        ("clock", "Hz kHz MHz GHz"),
    ],
)
def test_a_quantity_is_written_in_its_unit(name: str, units: str) -> None:
    """Protects files that raidsim writes: 7 of any unit is as short as that, and is the same number when read again."""
    for unit in units.split():
        read = _Quantities.model_validate({name: f"7{unit}"})
        text = written(read)[name]
        assert len(text) <= len(f"7{unit}"), f"7{unit} became {text}"
        assert _Quantities.model_validate({name: text}) == read
