"""The fields of the form: one design and one load as plain values."""

from __future__ import annotations

from dataclasses import dataclass

Value = str | int | bool

NONE = "none"
"""No controller: the host's kernel runs the array."""
USUAL = "usual"
"""Whatever the kernel, or the driver, does unless it is told otherwise."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a person has chosen; every value is checked by :func:`.forms.fitted`.

    Attributes
    ----------
    machine, drive, price, disks, spares
        The machine of the catalogue, and the drives that are in it instead of its own; what one drive costs, 0 if
        that is not known.
    level, groups, algorithm, copies, chunk
        The layout; chunk in KiB.
    controller, write_back
        Who runs the array, and whether the controller's cache holds writes back.
    kernel, bitmap, stripe_cache, threads, scheduler, throttle
        The kernel and its settings; 0 and "usual" are its own.
    cipher
        What dm-crypt encrypts the array with.
    drive_cache, drive_state
        Write cache of hard disks; what solid-state drives have behind them.
    failed, rebuilding
        Members lost before the run begins, and whether they are being rebuilt.
    pattern, block, read, hot
        The load's I/Os: block in KiB, percentage of reads, locality.
    how, independent, depth, jobs, iops
        Whether each of the jobs keeps `depth` I/Os outstanding, or all send `iops` together. If `independent` is true,
        every outstanding I/O has a thread of its own; otherwise one thread submits all I/Os of a job.
    network, port, clients, nfsd
        How clients reach the machine, whose load it then is; threads of an NFS server, 0 for the usual number.
    loads, pattern_b, block_b, read_b, how_b, amount_b, pattern_c, block_c, read_c, how_c, amount_c
        Loads at the same time, and the second and the third of them: `amount` I/Os outstanding, I/Os per second, or
        users with one I/O each.
    parts, hours, read_2, pattern_2, block_2, depth_2, iops_2, loads_2
        Whether the day has another part, how many hours of it that is, what the first load does then, and how many
        loads go on.
    length, seed
        How much is simulated, and the random numbers.
    fail_at
        When a member fails, in percent of the measurement; only where a failure is asked for.
    """

    machine: str = "server"
    drive: str = "Exos-10E2400-2400GB"
    price: int = 0
    level: str = "raid5"
    disks: int = 8
    spares: int = 0
    groups: int = 2
    controller: str = NONE
    kernel: str = "linux-6.1"
    algorithm: str = USUAL
    copies: int = 2
    chunk: int = 512
    drive_cache: bool = True
    drive_state: str = "steady"
    write_back: bool = True
    bitmap: bool = True
    stripe_cache: int = 0
    threads: int = 0
    scheduler: str = USUAL
    throttle: bool = True
    cipher: str = NONE
    failed: int = 0
    rebuilding: bool = False
    pattern: str = "random"
    block: int = 4
    read: int = 70
    hot: str = "even"
    how: str = "outstanding"
    independent: bool = True
    depth: int = 16
    jobs: int = 1
    iops: int = 500
    network: str = NONE
    port: str = "10GbE"
    clients: int = 1
    nfsd: int = 0
    loads: int = 1
    pattern_b: str = "sequential"
    block_b: int = 1024
    read_b: int = 0
    how_b: str = "rate"
    amount_b: int = 20
    pattern_c: str = "random"
    block_c: int = 8
    read_c: int = 100
    how_c: str = "users"
    amount_c: int = 10
    parts: bool = False
    hours: int = 8
    read_2: int = 0
    pattern_2: str = "sequential"
    block_2: int = 256
    depth_2: int = 4
    iops_2: int = 100
    loads_2: int = 1
    length: str = "normal"
    seed: int = 0
    fail_at: int = 30


DEFAULT = Form()

LABELS = {
    "machine": "Machine",
    "drive": "Drive",
    "price": "Price of a drive",
    "level": "RAID level",
    "disks": "Disks",
    "spares": "Spares",
    "groups": "Groups",
    "controller": "Controller",
    "kernel": "Kernel",
    "algorithm": "Algorithm",
    "copies": "Copies",
    "chunk": "Chunk (KiB)",
    "drive_cache": "Write cache of the drives",
    "drive_state": "State of the drives",
    "write_back": "Write-back cache of the controller",
    "bitmap": "Write-intent bitmap",
    "stripe_cache": "Stripe cache (4 KiB entries)",
    "threads": "Threads for parity (group_thread_cnt)",
    "scheduler": "I/O scheduler",
    "throttle": "Write-back throttling",
    "cipher": "Encryption (dm-crypt)",
    "failed": "Failed disks",
    "rebuilding": "Being rebuilt",
    "pattern": "Pattern",
    "block": "Block (KiB)",
    "read": "Reads (%)",
    "hot": "Locality",
    "how": "Load is given as",
    "independent": "Independent users",
    "depth": "Outstanding I/Os of each job",
    "jobs": "Jobs",
    "iops": "I/Os per second of all jobs",
    "network": "Network to the clients",
    "port": "Ethernet of the network",
    "clients": "Clients",
    "nfsd": "Threads of the NFS server",
    "loads": "Loads at the same time",
    "pattern_b": "Pattern of load 2",
    "block_b": "Block of load 2 (KiB)",
    "read_b": "Reads of load 2 (%)",
    "how_b": "Load 2 is given as",
    "amount_b": "Number of these (load 2)",
    "pattern_c": "Pattern of load 3",
    "block_c": "Block of load 3 (KiB)",
    "read_c": "Reads of load 3 (%)",
    "how_c": "Load 3 is given as",
    "amount_c": "Number of these (load 3)",
    "parts": "Another part of the day",
    "hours": "Its hours of the day",
    "read_2": "Reads then (%)",
    "pattern_2": "Pattern then",
    "block_2": "Block then (KiB)",
    "depth_2": "Outstanding I/Os of each job then",
    "iops_2": "I/Os per second of all jobs then",
    "loads_2": "Loads at the same time then",
    "length": "Length of the run",
    "seed": "Random seed",
    "fail_at": "A disk fails after (% of the run)",
}
