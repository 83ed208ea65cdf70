"""The pools of a scenario, and the module parameters of ZFS."""

from __future__ import annotations

from ...scenarios.description.tuning import ZfsParameters
from .chosen import ChosenPool, Selection
from .commented_yaml import Mapping, size_text
from .tools.findings import Findings

_SIZES = ("zfs_arc_max", "zfs_dirty_data_max")


def put_pools(top: Mapping, selection: Selection, found: Findings) -> None:
    """Write them down, each value with where it was found or why it is assumed."""
    if not selection.pools:
        return
    pools = top.inner("pools")
    for name, chosen in selection.pools.items():
        _put_pool(pools.inner(name, chosen.found.where), chosen)
    changed = {
        name: fact
        for name, fact in sorted(found.parameters.items())
        if fact.value != ZfsParameters.model_fields[name].default
    }
    if changed:
        parameters = top.inner("zfs_parameters")
        for name, fact in changed.items():
            value = size_text(fact.value) if name in _SIZES else fact.value
            parameters.put(name, value, fact.where)


def _put_pool(inside: Mapping, chosen: ChosenPool) -> None:
    found = chosen.found
    inside.put("vdevs", chosen.vdevs, found.vdevs[0].where)
    if found.ashift is not None:
        inside.put("ashift", chosen.ashift, found.ashift.where)
    else:
        inside.put("ashift", chosen.ashift, assumed="what zpool takes on today's drives; zpool get ashift tells it")
    if chosen.failed:
        inside.put("failed", list(chosen.failed), next(iter(chosen.failed.values())))
    if chosen.rebuilding:
        inside.put("rebuilding", chosen.rebuilding, chosen.failed[chosen.rebuilding[0]])
    if chosen.scan is not None and found.action is not None:
        inside.put("scan", chosen.scan, found.action.where)
    space = found.allocated or found.capacity
    if chosen.used:
        inside.put(
            "used", round(chosen.used, 4), space.where if space is not None else "", "without the datasets below"
        )
    if found.fragmentation is not None and found.fragmentation.value:
        inside.put("fragmentation", found.fragmentation.value, found.fragmentation.where)
    if found.autotrim is not None and found.autotrim.value:
        inside.put("autotrim", True, found.autotrim.where)
    datasets = inside.inner("datasets")
    for name, (fields, dataset) in chosen.datasets.items():
        value = {key: size_text(each) if _is_size(each) else each for key, each in fields.items()}
        if dataset is not None:
            datasets.put(name, value, dataset.where)
        else:
            told = "as large as all data of the pool" if space is not None else "half of the pool"
            datasets.put(name, value, assumed=f"{told}: nothing tells volumes and files (zfs list does)")


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
