"""Which program printed a report, and the way to its figures; the rooms inside have one module a format.

:func:`~.detect.read_report` recognizes a file by its content; each module's first lines say the units of its numbers
and where that is known from.
"""
