"""The catalogue's controller for what a tool prints: by number, by relatives, by maker; cache by the memory."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.calibration.inspection.matching.computer import nearest_controller
from raidsim.calibration.inspection.tools.facts import Fact
from raidsim.calibration.inspection.tools.findings import FoundController
from raidsim.model.controller.catalogue import controller, controller_names


def nearest(product: str, **known: Any) -> tuple[str, dict[str, Any], str]:
    """What is chosen for a product with eight drives in a RAID 5."""
    found = FoundController("c0", "x:1", Fact(product, "x:1") if product else None)
    for key, value in known.items():
        setattr(found, key, Fact(value, "x:1"))
    return nearest_controller(found, 4, {"raid1"})


@pytest.mark.parametrize("name", controller_names())
def test_every_controller_of_the_catalogue_is_itself(name: str) -> None:
    """A product by the name that its maker gives it is that entry, with nothing assumed."""
    if "8500" in name or name in ("IFT-3102UA", "DPT-PM2144UW", "Gateway-840"):
        return
    model, overrides, why = nearest(controller(name).model)
    assert (model, why) == (name, "")
    assert "model" not in overrides


@pytest.mark.parametrize(
    ("product", "entry"),
    [
        ("PERC H730P Mini", "Dell-PERC-H730P"),
        ("PERC 6/i Integrated", "Dell-PERC-6i"),
        ("PERC 5/i Integrated", "Dell-PERC-5i"),
        ("AVAGO MegaRAID SAS 9361-4i", "LSI-9361-8i"),
        ("MegaRAID 9560-8i 4GB", "LSI-9560-16i"),
        ("HP Smart Array P410i", "HPE-P410i"),
        ("HPE Smart Array P408i-p SR Gen10", "HPE-P408i-a"),
        ("HPE MR416i-o Gen11", "HPE-MR416i-a"),
        ("Adaptec ASR 8805", "Adaptec-8805"),
        ("ThinkSystem RAID 930-16i 8GB Flash", "Lenovo-930-16i"),
        ("ThinkSystem RAID 930-8i 2GB Flash", "Lenovo-930-8i"),
    ],
)
def test_other_words_for_the_same(product: str, entry: str) -> None:
    """As perccli, storcli, ssacli and arcconf print them, in other forms and sizes."""
    assert nearest(product)[::2] == (entry, "")


@pytest.mark.parametrize(
    ("product", "interface", "entry", "words"),
    [
        ("PERC H710 Mini", "SAS-6G", "Dell-PERC-H710P", "same chip"),
        ("PERC 6/E Adapter", None, "Dell-PERC-6i", "same chip"),
        ("ServeRAID M5210", "SAS-12G", "LSI-9361-8i", "same chip"),
        ("AVAGO 3108 MegaRAID", "SAS-12G", "LSI-9361-8i", "same chip"),
        ("SAS3508", "SAS-12G", "Lenovo-930-8i", "same chip"),
        ("Smart Array P440ar", None, "HPE-P408i-a", "same chip or its generation"),
        ("Smart Array P999 SR Gen10", None, "HPE-P408i-a", "its maker's"),
        ("Smart Array 6402", None, "HPE-P410i", "its maker's"),
        ("Adaptec 2405", None, "Adaptec-3154-8i", "its maker's"),
        ("Fujitsu PRAID", "SAS-12G", "LSI-9361-8i", "interface"),
        ("LSI MegaRAID 8888ELP", "SAS-3G", "Dell-PERC-6i", "interface"),
        ("", None, "LSI-9260-8i", "usual"),
    ],
)
def test_the_nearest_of_others(product: str, interface: str | None, entry: str, words: str) -> None:
    """A product that has no entry: the one with its chip, its maker's, or one of its generation; and it says so."""
    model, overrides, why = nearest(product, **({"interface": interface} if interface else {}))
    assert model == entry
    assert words in why
    assert overrides.get("model", "") == product


@pytest.mark.parametrize(
    ("known", "cache"),
    [
        ({"cache": 1618 << 20, "memory": 2 << 30}, 1618),
        ({"memory": 2 << 30}, 1931),
        ({"memory": 1 << 30}, 839),
        ({}, 1931),
    ],
)
def test_the_cache_is_what_is_printed_or_left_of_the_memory(known: dict[str, int], cache: int) -> None:
    """The cache's own figure counts; memory of the entry's size changes nothing, and half of it is another card."""
    name, overrides, _ = nearest("PERC H730P", **known)
    assert controller(name).with_values(**overrides).cache >> 20 == cache


def test_a_card_without_memory_has_no_battery() -> None:
    """Write-through by nature: a missing battery is no change."""
    _, overrides, _ = nearest("PERC H330 Mini", battery="failed")
    assert overrides == {}
