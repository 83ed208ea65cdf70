"""The table of fio's options: every one has one meaning, and what is refused says why."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.programs.fio.options import Option, check_simulated, engine_kind, full_name, option_table

OF_FIO_3_33 = 221
OF_ENGINES = 17


def test_every_option_has_one_meaning() -> None:
    """Protects the table: 221 options of fio 3.33 and 17 of the engines, none of them twice, no alias of two."""
    table = option_table()
    names = [*table.simulated, *table.accepted, *table.verifying, *table.refused]
    assert len(names) == OF_FIO_3_33 + OF_ENGINES
    aliases = [alias for entry in table.entries.values() for alias in entry.aliases]
    twice = [name for name, count in Counter(names + aliases).items() if count > 1]
    assert not twice


def test_what_changes_nothing_says_why() -> None:
    """Protects the reasons, which notes and errors show; what is simulated needs none."""
    table = option_table()
    assert all(entry.why for group in (table.accepted, table.refused) for entry in group.values())
    assert not any(entry.why or entry.off for entry in table.simulated.values())
    assert set(table.engines.values()) >= {"sync", "async", "null"}


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("threads", "thread"),
        ("blocksize", "bs"),
        ("readwrite", "rw"),
        ("iodepth_batch_submit", "iodepth_batch"),
        ("BS", "bs"),
    ],
)
def test_aliases_are_the_same_option(name: str, full: str) -> None:
    """Protects job files that use the other name."""
    assert full_name(name, "x") == full


def test_an_unknown_option_is_answered_with_the_closest() -> None:
    """As fio does."""
    with pytest.raises(InputError, match="unknown option 'iodeph'; did you mean 'iodepth'"):
        full_name("iodeph", "x")


def test_refused_options_may_be_switched_off() -> None:
    """verify=0 asks for nothing, verify=md5 does; accepted ones are given back with their reason."""
    assert check_simulated({"verify": Option("0", "x"), "thread": Option("", "x")}) == {
        "thread": "threads and processes take the same time"
    }
    with pytest.raises(InputError, match="it cannot be simulated: zones are not modeled"):
        check_simulated({"zonemode": Option("zbd", "x")})


@pytest.mark.parametrize(
    ("rw", "more", "message"),
    [
        ("write", {}, "after its writes fio reads back what it wrote, and this is not modeled; expected: do_verify=0"),
        ("randrw", {"do_verify": "1"}, "after its writes fio reads back"),
        ("randwrite", {"do_verify": "0", "verify_backlog": "64"}, "between the writes"),
        ("write", {"do_verify": "0"}, ""),
        ("randread", {"verify_fatal": "1"}, ""),
        ("read", {"verify_only": "1"}, "what an earlier run has written"),
    ],
)
def test_verify_is_accepted_where_it_reads_nothing_more(rw: str, more: dict[str, str], message: str) -> None:
    """Protects jobs that only compare what they read anyway; one that reads back after its writes is refused."""
    options = {name: Option(value, "x") for name, value in {"rw": rw, "verify": "crc32c", **more}.items()}
    if message:
        with pytest.raises(InputError, match=message):
            check_simulated(options)
    else:
        assert "nothing more is read for it" in check_simulated(options)["verify"]


@pytest.mark.parametrize("name", sorted(option_table().owners))
def test_options_of_engines_that_are_not_modelled(name: str) -> None:
    """Protects the reason: the engine's own if the job has it, else the engine's name; never "unknown option"."""
    full = full_name(name, "x")
    for engine in option_table().owners[full]:
        with pytest.raises(
            InputError, match=f"{engine} cannot be simulated: {re.escape(option_table().engines[engine])}"
        ):
            check_simulated({full: Option("1", "x"), "ioengine": Option(engine, "y")})
    with pytest.raises(InputError, match=f"an option of the engine .*{option_table().owners[full][0]}.*is libaio"):
        check_simulated({full: Option("1", "x"), "ioengine": Option("libaio", "y")})


def test_engines() -> None:
    """Protects which engines wait for each I/O; the default is psync."""
    assert engine_kind(None) == ("psync", "sync")
    assert engine_kind(Option("io_uring", "x")) == ("io_uring", "async")
    with pytest.raises(InputError, match="rbd cannot be simulated: there is no network"):
        engine_kind(Option("rbd", "x"))
