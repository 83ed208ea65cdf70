"""Catalogues of behavior: a module put into a package is found, as a data file put into a folder is.

What a package offers by name (read-balance policies, layouts) is collected from the classes of its modules, so that a
new one is one new file and no list has to be changed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from typing import Any


def classes_in(package: str, folders: Iterable[str], apart: Iterable[str] = ()) -> Iterator[type[Any]]:
    """The public classes that the modules of a package define, module by module in the order of their names.

    Parameters
    ----------
    package, folders
        Its ``__name__`` and ``__path__``.
    apart
        Modules that define none and are not to be imported for it.
    """
    left_out = set(apart)
    for found in pkgutil.iter_modules(folders):
        if found.name in left_out:
            continue
        module = importlib.import_module(f"{package}.{found.name}")
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__ == module.__name__ and not name.startswith("_"):
                yield value
