"""The messages of the NBD protocol: numbers, flags and the packing of replies.

Source: the NBD project's doc/proto.md (fixed newstyle handshake, simple and structured replies).
"""

from __future__ import annotations

import struct
from typing import Final

GREETING: Final = struct.pack(">QQH", 0x4E42444D41474943, 0x49484156454F5054, 3)
"""NBDMAGIC, IHAVEOPT, and the flags "fixed newstyle" and "no zeroes"."""
OPTION_MAGIC: Final = 0x49484156454F5054
OPTION_REPLY_MAGIC: Final = 0x3E889045565A9
REQUEST_MAGIC: Final = 0x25609513
SIMPLE_MAGIC: Final = 0x67446698
STRUCTURED_MAGIC: Final = 0x668E33EF

CLIENT_FIXED_NEWSTYLE: Final = 1
CLIENT_NO_ZEROES: Final = 2

OPTION: Final = struct.Struct(">QII")
OPTION_REPLY: Final = struct.Struct(">QIII")
REQUEST: Final = struct.Struct(">IHHQQI")
SIMPLE: Final = struct.Struct(">IIQ")
CHUNK: Final = struct.Struct(">IHHQI")

OPT_EXPORT_NAME: Final = 1
OPT_ABORT: Final = 2
OPT_LIST: Final = 3
OPT_INFO: Final = 6
OPT_GO: Final = 7
OPT_STRUCTURED_REPLY: Final = 8

REP_ACK: Final = 1
REP_SERVER: Final = 2
REP_INFO: Final = 3
REP_ERR_UNSUP: Final = 1 << 31 | 1
REP_ERR_INVALID: Final = 1 << 31 | 3
REP_ERR_UNKNOWN: Final = 1 << 31 | 6
REP_ERR_TOO_BIG: Final = 1 << 31 | 9

INFO_EXPORT: Final = 0
INFO_BLOCK_SIZE: Final = 3

HAS_FLAGS: Final = 1 << 0
READ_ONLY: Final = 1 << 1
SEND_FLUSH: Final = 1 << 2
SEND_FUA: Final = 1 << 3
ROTATIONAL: Final = 1 << 4
SEND_TRIM: Final = 1 << 5
SEND_DF: Final = 1 << 7
CAN_MULTI_CONN: Final = 1 << 8

CMD_READ: Final = 0
CMD_WRITE: Final = 1
CMD_DISC: Final = 2
CMD_FLUSH: Final = 3
CMD_TRIM: Final = 4

FLAG_FUA: Final = 1 << 0
FLAG_DF: Final = 1 << 2

EPERM: Final = 1
EIO: Final = 5
EINVAL: Final = 22
ENOSPC: Final = 28

CHUNK_DONE: Final = 1
CHUNK_OFFSET_DATA: Final = 1
CHUNK_ERROR: Final = 1 << 15 | 1

MOST_REQUEST_BYTES: Final = 32 << 20
"""The largest read or write, which the server announces; a client that asks nothing may assume as much."""
MOST_OPTION_BYTES: Final = 8192
"""The largest data of an option: a name has at most 4096 bytes."""


def option_reply(option: int, kind: int, data: bytes = b"") -> bytes:
    """A reply to an option of the handshake."""
    return OPTION_REPLY.pack(OPTION_REPLY_MAGIC, option, kind, len(data)) + data


def simple_reply(cookie: int, error: int = 0, data: bytes = b"") -> bytes:
    """A simple reply to a request."""
    return SIMPLE.pack(SIMPLE_MAGIC, error, cookie) + data


def data_chunk(cookie: int, offset: int, data: bytes) -> bytes:
    """The only chunk of a structured reply to a read."""
    head = CHUNK.pack(STRUCTURED_MAGIC, CHUNK_DONE, CHUNK_OFFSET_DATA, cookie, 8 + len(data))
    return b"".join((head, offset.to_bytes(8, "big"), data))


def error_chunk(cookie: int, error: int) -> bytes:
    """The only chunk of a structured reply that says why a request failed."""
    return CHUNK.pack(STRUCTURED_MAGIC, CHUNK_DONE, CHUNK_ERROR, cookie, 6) + struct.pack(">IH", error, 0)
