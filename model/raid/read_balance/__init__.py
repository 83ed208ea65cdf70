"""How a mirror chooses the member that serves a read: one policy a class, every module of the package searched."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, create_model

from ...files.description import refusal
from ...files.plugins import Room, room_of
from .ataraid import AtaRaid
from .base import ReadBalance
from .gmirror import GmirrorLoad, GmirrorPrefer, GmirrorRoundRobin, GmirrorSplit
from .linux24 import Md24
from .linux26 import Md26
from .linux61 import Md30Raid10, Md36, Md61, Md61Raid10
from .options import BalanceOptions, Mirrors
from .primary import PrimaryOnly

READ_BALANCE: Room[type[ReadBalance]] = room_of("balance", __name__, ReadBalance)
"""The policies by name; each is made from the number of mirrors, or from what it must know by `for_members`."""


def _options_of(policy: type[ReadBalance]) -> type[BalanceOptions]:
    """The options of a policy, which the policy's name tells from those of others."""
    words = (policy.__doc__ or "").partition("\n")[0]
    name: Any = (Literal[policy.name], policy.name)
    return create_model(f"{policy.__name__}Balance", __base__=policy.Options, __doc__=words, name=name)


_OPTIONS = {name: _options_of(policy) for name, policy in READ_BALANCE.items()}
# A class made at run time is pickled, for another process, by its name here.
globals().update({options.__name__: options for options in _OPTIONS.values()})


def balance(name: str, **options: Any) -> BalanceOptions:
    """The options of the policy called `name`, with their defaults unless given."""
    return _OPTIONS[name](name=name, **options)


def _in_short(value: object) -> object:
    """A bare name is a policy with its usual options."""
    if not isinstance(value, (str, Mapping, BalanceOptions)):
        raise refusal(f"{value!r:.60}", "expected: a policy's name, or {name: ...} with its options")
    found: object = {"name": value} if isinstance(value, str) else value
    name = found.get("name") if isinstance(found, Mapping) else None
    if isinstance(name, str):
        READ_BALANCE.refuse_unknown(name)
    return found


if TYPE_CHECKING:
    Balance = BalanceOptions
else:
    Balance = Annotated[reduce(or_, _OPTIONS.values()), Field(discriminator="name"), BeforeValidator(_in_short)]
    """A read-balance policy and its options; a bare name is written for one with the usual options."""


def options_by_policy() -> dict[str, str]:
    """Every option that a policy has, and the first policy that has it."""
    return {
        option: name
        for name, options in reversed(_OPTIONS.items())
        for option in options.model_fields
        if option != "name"
    }


__all__ = [
    "READ_BALANCE",
    "AtaRaid",
    "Balance",
    "BalanceOptions",
    "GmirrorLoad",
    "GmirrorPrefer",
    "GmirrorRoundRobin",
    "GmirrorSplit",
    "Md24",
    "Md26",
    "Md30Raid10",
    "Md36",
    "Md61",
    "Md61Raid10",
    "Mirrors",
    "PrimaryOnly",
    "ReadBalance",
    "balance",
    "options_by_policy",
]
