"""Files that nobody means well with: each is refused at once, with one message."""

from __future__ import annotations

import copy
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raidsim.cli import main as cli
from raidsim.model.core.errors import InputError
from raidsim.model.files.yaml_files import read_yaml
from raidsim.scenarios.documents.changes.positions import DocumentPositions, paths_below
from raidsim.scenarios.documents.document import Document, document_from, read_document
from raidsim.scenarios.documents.library import LIBRARY

BOMB = "a0: &a0 [x, x]\n" + "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))
HOSTILE: dict[str, str | bytes] = {
    "empty": "",
    "comment": "# nothing\n",
    "list": "- a\n- b\n",
    "word": "hello",
    "binary": bytes(range(256)) * 40,
    "zeros": b"\0" * 5000,
    "utf-16": "name: x".encode("utf-16"),
    "too-large": b"# " + b"x" * (1 << 20),
    "deep-flow": "a: " + "[" * 100_000,
    "deep-mapping": "a: " + "{a: " * 50_000,
    "deep-block": "- " * 100_000 + "x",
    "short-and-deep": "a: " + "[" * 900 + "]" * 900,
    "bomb": BOMB,
    "many-values": "a: [" + "1," * 200_000 + "1]",
    "many-keys": "\n".join(f"k{n}: {n}" for n in range(60_000)),
    "loop": "a: &a [*a]",
    "loop-mapping": "machine: &m {cpu: *m}",
    "unknown-anchor": "a: *b",
    "merge-key": "a: &a {x: 1}\nmachine: {<<: *a}",
    "tag": "name: !!python/object/apply:os.system ['echo x']",
    "tag-name": "name: !!python/name:os.system",
    "other-tag": "name: !x y",
    "two-documents": "name: a\n---\nname: b\n",
    "duplicate-key": "name: a\nname: b\n",
    "list-as-key": "? [a]\n: b\n",
    "unclosed": "a: [1, 2",
    "tab": "a:\n\t- b",
    "unknown-key": "nam: x",
    "unknown-inner-key": "machine: {memroy: 4GiB}",
    "huge-count": "machine: {drives: {count: 1e308}}",
    "large-count": "machine: {drives: {count: 1000001}}",
    "many-drives": "machine: {drives: {"
    + ", ".join(f"d{n}: WD800JB" for n in range(10_001))
    + "}}\narrays: {a: raid6}",
    "no-count": "machine: {drives: {count: 0}}",
    "true-count": "machine: {drives: {count: true}}",
    "long-count": "machine: {drives: {count: " + "9" * 100_000 + "}}",
    "negative-size": "machine: {memory: -4GiB}",
    "wrong-unit": "machine: {memory: 4GHz}",
    "ambiguous-unit": "machine: {memory: 4GB, resident: 64K}",
    "no-unit": "workload: {duration: 5}",
    "negative-time": "workload: {duration: -5s}",
    "huge-size": "machine: {memory: 1e300GiB}",
    "nan": "path_length: .nan",
    "infinite": "path_length: .inf",
    "nan-iops": "workload: {iops: .nan}",
    "huge-chunk": "arrays: {md0: {level: raid5, chunk: 8191PiB}}",
    "many-groups": "arrays: {md0: {level: raid50, groups: 1000000000000}}",
    "many-copies": "arrays: {md0: {level: raid10, copies: 99999999999}}",
    "many-jobs": "workload: {jobs: 100000000}",
    "many-outstanding": "workload: {jobs: 4096, depth: 65536}",
    "list-for-a-name": "name: [a]",
    "mapping-for-a-name": "kernel: {a: b}",
    "number-for-a-machine": "machine: 3",
    "list-for-a-machine": "machine: [a]",
    "unknown-machine": "machine: mainframe",
    "number-for-a-model": "machine: {model: 3}",
    "number-for-a-drive": "machine: {drives: {model: 3, count: 2}}",
    "unknown-drive": "machine: {drives: {model: ../../../etc/passwd, count: 2}}",
    "list-for-drives": "machine: {drives: [a, b]}",
    "word-for-a-drive": "machine: {drives: {sda: 3}}",
    "number-for-a-port": "machine: {port: 3}",
    "bad-port": "machine: {port: {links: 7}}",
    "links-of-a-port": "machine: {port: {links: [{a: b}]}}",
    "number-for-links": "machine: {links: 3}",
    "number-for-channels": "machine: {channels: 3}",
    "number-for-a-cpu": "machine: {cpu: 3}",
    "number-for-prices": "machine: {cpu: {prices: 3}}",
    "number-for-controllers": "machine: {controllers: 3}\narrays: {md0: {level: raid1, controller: LSI-9260-8i}}",
    "number-for-arrays": "arrays: 3",
    "list-for-arrays": "arrays: [raid5]",
    "number-for-an-array": "arrays: {md0: 3}",
    "numbers-for-members": "arrays: {md0: {level: raid5, members: [1, 2, 3]}}",
    "lists-for-members": "arrays: {md0: {level: raid5, members: [[a], {b: c}]}}",
    "fraction-of-members": "arrays: {md0: {level: raid5, members: 2.5}}",
    "too-many-members": "arrays: {md0: {level: raid5, members: 99}}",
    "failed-beyond": "arrays: {md0: {level: raid5, failed: 99}}",
    "mapping-for-failed": "arrays: {md0: {level: raid5, failed: {a: b}}}",
    "array-of-itself": "arrays: {a: {level: raid1, members: [a, b]}, b: {level: raid1, members: [a, disk0]}}",
    "number-as-a-name": "arrays: {1: raid5}",
    "number-for-encrypted": "encrypted: 3",
    "list-for-encrypted": "encrypted: {a: [b]}",
    "number-for-file-systems": "file_systems: 3",
    "list-for-a-file-system": "file_systems: {/a: [b]}",
    "number-for-a-workload": "workload: 3",
    "unknown-workload": "workload: {kind: quake}",
    "list-for-a-kind": "workload: {kind: [a]}",
    "number-for-targets": "workload: {targets: 3}",
    "mapping-in-targets": "workload: {targets: [{a: b}]}",
    "no-steps": "workload: {kind: programs}",
    "number-for-steps": "workload: {kind: programs, steps: 3}",
    "negative-seed": "seed: -1",
    "escape-in-a-name": 'name: "\\e[31mred"',
    "extends-itself": "extends: hostile.yaml",
    "extends-a-number": "extends: 3",
    "extends-nul": 'extends: "a\\0b"',
    "extends-a-long-name": f"extends: {'x' * 5000}.yaml",
    "extends-a-folder": "extends: .",
    "extends-a-device": "extends: /dev/zero",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_are_refused_at_once(content: str | bytes, tmp_path: Path) -> None:
    """One InputError that names the file or a field, at once."""
    path = tmp_path / "hostile.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    began = time.process_time()
    with pytest.raises(InputError) as caught:
        read_document(path).spec()
    assert time.process_time() - began < 10.0
    assert str(path) in caught.value.place
    assert len(str(caught.value)) < 1500


def test_the_largest_machine_is_looked_through_at_once() -> None:
    """256 drives are allowed, in every layout, without a second's wait."""
    for level in ("raid6", "raid60"):
        began = time.process_time()
        assert (
            len(document_from(f"machine: {{drives: {{count: 256}}}}\narrays: {{a: {level}}}").spec().machine.drives)
            == 256
        )
        assert time.process_time() - began < 1.0


HARMFUL: tuple[Any, ...] = (
    *(None, True, 0, -1, 2.5, 1e308, float("nan"), 10**30, "", "x", "4KiB", "-1s", "raid5", "disk0", "nas", "100%"),
    *([], ["a"], ["disk0", "disk0"], [[]], [{}], {}, {"a": 1}, {"model": "nas"}, {"kind": "dd"}, {1: 2}, {None: 1}),
)
KEYS = ("model", "count", "kind", "spares", "failed", "rebuilding", "controller", "targets", "port", "x", 5)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_scenarios_are_refused_or_run(seed: int) -> None:
    """Whatever stands wherever in a scenario, the answer is a scenario or one InputError."""
    choose = random.Random(seed)
    whole = [read_yaml(path)[0] for path in sorted(LIBRARY.glob("*.yaml"))]
    refused: list[str] = []
    for _ in range(100):
        data = copy.deepcopy(choose.choice(whole))
        for _ in range(choose.choice((1, 1, 2, 3))):
            *above, last = choose.choice([path for path in paths_below(data) if path] or [("name",)])
            inside = data
            for key in above:
                inside = inside[key]
            if isinstance(inside, dict) and choose.random() < 0.3:
                del inside[last]
                continue
            key = choose.choice(KEYS) if isinstance(inside, dict) and choose.random() < 0.2 else last
            inside[key] = copy.deepcopy(choose.choice(HARMFUL))
        document = Document("damaged", data, DocumentPositions("damaged", dict.fromkeys(paths_below(data), 1)))
        try:
            document.changed({}).spec()
        except InputError as error:
            refused.append(str(error))
    assert 10 < len(refused) < 100
    assert max(map(len, refused)) < 1500


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50 << 20)


def _loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_fifo, "no regular file"),
        (Path.mkdir, "a folder"),
        (_sparse, "50 MiB; expected: a YAML file of up to 1 MiB"),
        (_loop, "cannot be read"),
        (lambda path: path.symlink_to("/dev/zero"), "no regular file"),
        (lambda path: None, "there is no such file"),
    ],
)
def test_what_is_no_file_is_not_waited_for(make: Callable[[Path], None], said: str, tmp_path: Path) -> None:
    """Pipes, devices, folders and files that are too large are told apart before anything is read."""
    path = tmp_path / "x.yaml"
    make(path)
    began = time.monotonic()
    with pytest.raises(InputError, match=said):
        read_document(path)
    assert time.monotonic() - began < 1.0


def test_bad_input_ends_a_command_with_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Status 2 and a single line on stderr, without a traceback."""
    path = tmp_path / "x.yaml"
    path.write_text(BOMB, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        cli.main(["scenario", str(path)])
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"error: {path}")
