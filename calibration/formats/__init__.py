"""Parsers of what benchmark programs print: one module a format, one kind of result.

:func:`~.detect.read_report` recognizes a file by its content; each module's first lines say the units of its numbers
and where that is known from.
"""
