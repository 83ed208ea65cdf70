"""File systems: one model, and one file of numbers for each kind."""

from __future__ import annotations

from .file_system import FileSystem
from .geometry import on_array, with_log_on
from .nodes import Directory, File
from .settings import (
    FileSystemSettings,
    file_system_names,
    file_system_settings,
    file_system_sources,
    instead_of,
)

__all__ = [
    "Directory",
    "File",
    "FileSystem",
    "FileSystemSettings",
    "file_system_names",
    "file_system_settings",
    "file_system_sources",
    "instead_of",
    "on_array",
    "with_log_on",
]
