"""Links of the catalogue and networks in scenario files: shorthands, what is filled in, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.model.links.catalogue import link_model
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.statistics.usage import PLACES, Usage, bottleneck
from raidsim.scenarios.description.machine import ChannelSpec, LinkSpec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from, read_document
from raidsim.scenarios.documents.schema import document_schema
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.questions.without_bottleneck import remove_bottleneck

LOAD: dict[str, Any] = {"kind": "load", "duration": "1s"}


def document(network: Any = None, workload: Any = None, **machine: Any) -> dict[str, Any]:
    """Two drives in a storage server, striped."""
    drives = {"model": "Exos-10E2400-2400GB", "count": 2}
    data = {"machine": {"model": "storage-server", "drives": drives, **machine}, "arrays": {"md0": "raid0"}}
    data["workload"] = workload or LOAD
    return {**data, "network": network} if network is not None else data


def read(data: dict[str, Any]) -> ScenarioSpec:
    """The scenario of a document."""
    return document_from(json.dumps(data)).spec()


def test_a_model_gives_a_link_its_rates() -> None:
    """Protects what the catalogue fills in; a rate that is given is kept, with the rest of the model."""
    link = validate(LinkSpec, {"model": "pcie 3.0 x8", "max_payload": "128B"})
    known = link_model("PCIe 3.0 x8", 128)
    assert (link.model, link.rate, link.write_rate, link.duplex) == (known.name, known.rate, known.write_rate, True)
    assert "catalogue" in link.source
    measured = validate(LinkSpec, {"model": "9300-8i", "rate": "6GB/s"})
    assert (measured.rate, measured.write_rate, measured.command_rate) == (6e9, None, 1e6)
    assert LinkSpec.model_validate(link.model_dump()) == link


def test_a_rate_alone_is_the_link_it_always_was() -> None:
    """Protects old files: one direction at a time, no commands counted."""
    link = validate(LinkSpec, {"rate": "133MB/s", "source": "PCI"})
    assert (link.duplex, link.command_rate, link.model) == (False, None, None)


def test_a_port_of_the_catalogue_has_the_kind_of_its_cable() -> None:
    """Protects ports: rate and kind by model, and what is no cable of a drive refused."""
    port = validate(ChannelSpec, {"model": "PCIe 4.0 x4", "links": []})
    assert (port.kind, port.duplex, port.rate) == ("pcie", True, link_model("PCIe 4.0 x4").rate)
    assert not validate(ChannelSpec, {"model": "SATA 6Gb/s"}).duplex
    with pytest.raises(InputError, match="10GbE, which is no cable"):
        validate(ChannelSpec, {"model": "10GbE"})


def test_words_stand_for_models_and_replace_rates() -> None:
    """Protects shorthands, also over a machine of the catalogue that has another link of that name."""
    spec = read(document({"protocol": "iscsi", "port": "10GbE"}, links={"uplink": "SAS 6Gb/s x4"}))
    assert spec.machine.links["uplink"].model == "SAS 6Gb/s x4"
    assert spec.machine.links["uplink"].rate == link_model("SAS 6Gb/s x4").rate
    assert spec.network is not None
    assert spec.network.port.rate == link_model("10GbE").rate
    over = {"machine": {"model": "server", "links": {"expander": {"model": "SAS 12Gb/s x8"}}}, "workload": LOAD}
    assert read(over).machine.links["expander"].rate == link_model("SAS 12Gb/s x8").rate


def test_ports_are_named_after_the_network() -> None:
    """Protects results: the server's port, and one for each client if there are several."""
    network = {"protocol": "nfs4", "port": "10GbE", "clients": 2, "client_port": "1GbE"}
    machine = BuiltMachine(read(document(network)))
    assert [link.name for link in machine.all_links[:3]] == ["network", "client0", "client1"]
    assert [link.rate for link in machine.all_links[:2]] == [link_model("10GbE").rate, link_model("1GbE").rate]
    assert [cpu.name for cpu in machine.cpus] == ["cpu", "clients cpu"]
    (load,) = machine.loads
    assert isinstance(load, ClosedLoad)
    assert load._cpu is machine.cpus[1]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (document({"protocol": "iscsi", "port": "SATA 6Gb/s"}), "SATA 6Gb/s, which is no network"),
        (document({"protocol": "iscsi", "port": "10GB"}), "unknown link '10GB'; did you mean 10GbE"),
        (document({"protocol": "iscsi"}), "network.port.*it is missing"),
        (
            document({"protocol": "iscsi", "port": "10GbE", "threads": 8}),
            "threads with iscsi; expected: with nfs3 and nfs4",
        ),
        (document({"protocol": "nvme-tcp", "port": "10GbE", "export": "async"}), "export with nvme-tcp"),
        (document({"protocol": "smb", "port": "10GbE"}), "'smb'; expected: iscsi, nfs3, nfs4, nvme-tcp"),
        (document({"protocol": "nfs4", "port": {"model": "10GbE", "mtu": 100}}), "576 to 9216 bytes"),
        (document({"protocol": "nfs4", "port": {"rate": "1GB/s", "source": "x"}}), "both ways at once"),
        (document({"protocol": "nfs4", "port": "10GbE", "overrides": {"depht": 3}}), "depht"),
        (document({"protocol": "nfs4", "port": "10GbE", "overrides": {"request_cpu": 5}}), "5 has no unit"),
        (document({"protocol": "nfs4", "port": "10GbE"}, {"kind": "dd"}), "dd, which runs on the machine itself"),
        (
            document({"protocol": "nfs4", "port": "10GbE"}, {"steps": [{"program": "tar-c"}]}),
            "programs, which runs on the machine itself",
        ),
        (document({"protocol": "nfs4", "port": "10GbE"}, links={"network": "SATA 6Gb/s"}), "the link network"),
        (document(links={"hba": "9300-9i"}), "unknown link '9300-9i'; did you mean 9300-8i"),
        (document(links={"hba": {"model": "9300-8i", "mtu": 9000}}), "mtu.*one of 9300-8i; expected: with Ethernet"),
        (document(links={"hba": {"rate": "1GB/s", "command_rate": 5, "source": "x"}}), "command_rate without duplex"),
        (document(links={"hba": {"rate": "1GB/s", "max_payload": 256, "source": "x"}}), "max_payload without a model"),
    ],
)
def test_what_cannot_be_is_refused(data: dict[str, Any], words: str) -> None:
    """Protects people from a network that would silently not be there, and from links that they did not mean."""
    with pytest.raises(InputError, match=words):
        read(data)


def test_the_old_key_is_refused_with_the_new_one(tmp_path: Path) -> None:
    """Protects files that were written before: `front` is refused with its line and the key that took its place."""
    data = document({"protocol": "nfs4", "port": "10GbE"})
    old = {("front" if key == "network" else key): value for key, value in data.items()}
    file = tmp_path / "old.yaml"
    file.write_text(json.dumps(old, indent=1), encoding="utf-8")
    line = file.read_text(encoding="utf-8").partition('"front"')[0].count("\n") + 1
    words = rf"old\.yaml:{line}: field front: found the key 'front'; expected: 'network', its new name"
    with pytest.raises(InputError, match=words):
        read_document(str(file)).spec()
    with pytest.raises(InputError, match=r"there is no 'front'.*'network\.port', its new name"):
        document_from(json.dumps(data), sets=["front.port=1GbE"]).spec()


def test_the_schema_knows_models_and_networks() -> None:
    """Protects editors: a link may be a word or a model alone, a network needs protocol and port."""
    defs = document_schema()["$defs"]
    assert {"type": "string"}.items() <= defs["MachineSpec"]["properties"]["links"]["anyOf"][1]["additionalProperties"][
        "anyOf"
    ][1].items()
    assert defs["LinkSpec"]["required"] == []
    assert set(defs["NetworkSpec"]["required"]) == {"protocol", "port"}
    assert any(kind.get("type") == "string" for kind in defs["NetworkSpec"]["properties"]["port"]["anyOf"])


@pytest.mark.parametrize(
    ("busy", "what", "field"),
    [
        (Usage("network", "link", 1.0), "link network without limit", ("port", "rate")),
        (Usage("client1", "link", 1.0), "link client1 without limit", ("client_port", "rate")),
        (Usage("clients cpu", "cpu", 1.0), "the clients' CPUs without limit", ("client_speed",)),
        (Usage("8 threads of the NFS server", PLACES, 1.0), "32 threads of the NFS server", ("threads",)),
        (
            Usage("64 requests outstanding of each client", PLACES, 1.0),
            "256 requests outstanding of each client",
            ("depth",),
        ),
    ],
)
def test_the_networks_own_parts_are_taken_away(busy: Usage, what: str, field: tuple[str, ...]) -> None:
    """Protects the run without the bottleneck: the part that limits is another there, and all else is as before."""
    before = read(document({"protocol": "nfs4", "port": "10GbE", "clients": 2, "client_port": "10GbE"}))
    found = remove_bottleneck(before, [busy, Usage("disk0", "disk", 0.5)])
    assert found is not None
    assert found.what == what
    assert found.scenario.machine == before.machine
    old, new = before.network, found.scenario.network
    assert old is not None
    assert new is not None
    for name in type(old).model_fields:
        assert (getattr(old, name) == getattr(new, name)) == (name != field[0]), name
    if field[0].endswith("port"):
        assert getattr(new, field[0]).rate == 1000 * getattr(old, field[0]).rate


def test_places_limit_only_where_nothing_else_does() -> None:
    """Threads that all wait for disks are no bottleneck, those that leave everything idle are."""
    threads = Usage("8 threads of the NFS server", PLACES, 1.0)
    assert bottleneck([threads, Usage("disk0", "disk", 0.95)]) == "disk disk0 (95 % busy)"
    assert bottleneck([threads, Usage("disk0", "disk", 0.5)]).startswith("8 threads of the NFS server (all in use")
    idle = replace(threads, utilization=0.2)
    assert "busiest is disk disk0" in bottleneck([idle, Usage("disk0", "disk", 0.5)])
