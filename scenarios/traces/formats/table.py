"""All formats."""

from __future__ import annotations

from .alibaba import ALIBABA
from .blkparse import BLKPARSE
from .blktrace import BLKTRACE
from .cloudphysics import CLOUDPHYSICS_BINARY, CLOUDPHYSICS_BINARY_2, CLOUDPHYSICS_CSV
from .disksim import DISKSIM
from .disksim_validation import DISKSIM_VALIDATION
from .format import Format
from .iolog import IOLOG
from .libcachesim import LCS, ORACLE_GENERAL
from .mqsim import MQSIM
from .msr import MSR
from .spc import SPC
from .systor import SYSTOR
from .tencent import TENCENT

FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        BLKPARSE,
        BLKTRACE,
        IOLOG,
        MSR,
        SPC,
        DISKSIM,
        DISKSIM_VALIDATION,
        MQSIM,
        ALIBABA,
        TENCENT,
        SYSTOR,
        CLOUDPHYSICS_CSV,
        CLOUDPHYSICS_BINARY,
        CLOUDPHYSICS_BINARY_2,
        ORACLE_GENERAL,
        LCS,
    )
}
