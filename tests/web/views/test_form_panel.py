"""The words of the explorer's form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.web.form.choices import Range, offer
from raidsim.web.form.fields import DEFAULT, LABELS
from raidsim.web.views.form_panel import _option

WORDS_FOR_0 = {"nfsd": "as usual", "stripe_cache": "the kernel's own", "threads": "md's one thread"}


@pytest.mark.parametrize("network", ["none", "nfs4"])
def test_options_are_told_apart_and_numbers_are_numbers(network: str) -> None:
    """Protects every list of the form: no two options have the same words, and a number is shown as it is, but for 0
    where it stands for what the kernel does.
    """
    form, zeros = replace(DEFAULT, network=network), set()
    for field in LABELS:
        offered = offer(field, form)
        if offered is None or isinstance(offered, Range) or isinstance(offered[0], bool):
            continue
        words = [_option(field, each) for each in offered]
        assert len(set(words)) == len(words), field
        for value, said in zip(offered, words, strict=True):
            if isinstance(value, int):
                zeros |= {field} if value == 0 else set()
                assert said == (WORDS_FOR_0.get(field, "0") if value == 0 else f"{value:,}")
    assert zeros >= ({"nfsd"} if network == "nfs4" else {"stripe_cache", "threads"})
