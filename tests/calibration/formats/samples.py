"""Small reports in the forms that the programs print, written by hand or cut down from a run.

The figures of published ones are those of tests/model/programs/test_reports.py: facts of their sources.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BONNIE_1_4 = """\
Bonnie 1.4: File '/scratch1/Bonnie.6082', size: 2128609280, volumes: 1
Writing with putc()...         done:  39426 kB/s  96.1 %CPU
Rewriting...                   done:  68278 kB/s  21.3 %CPU
Writing intelligently...       done: 112074 kB/s  32.1 %CPU
Reading with getc()...         done:  46145 kB/s  91.4 %CPU
Reading intelligently...       done: 297031 kB/s  40.8 %CPU
Seeker 1...Seeker 2...Seeker 3...start 'em...done...done...done...
              ---Sequential Output (sync)----- ---Sequential Input-- --Rnd Seek-
              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --04k (03)-
Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU   /sec %CPU
islay  1*2030 39426 96.1112074 32.1 68278 21.3 46145 91.4297031 40.8 1550.9  2.2
"""

BONNIE_BRAY = """\
              -------Sequential Output-------- ---Sequential Input-- --Random--
              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---
Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU
box       100  9123 99.1 21034 20.5  8310 12.0  8999 97.2 30117 25.9 121.3  2.0
other     100  9123 99.1 21034 20.5  8310 12.0  8999 97.2 30117 25.9 121.3  2.0
"""

BONNIE_PLUS_PLUS_1_03 = """\
Version  1.03       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
jco-linux     3100M 21468  33 28510  20 17655  10 38814  65 82601  40 399.0   3
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16 17419  56 +++++ +++ 16464  58 17617  59 +++++ +++  7220  40
"""
BONNIE_PLUS_PLUS_1_03_CSV = (
    "jco-linux,3100M,21468,33,28510,20,17655,10,38814,65,82601,40,399.0,3,"
    "16,17419,56,+++++,+++,16464,58,17617,59,+++++,+++,7220,40\n"
)

BONNIE_PLUS_PLUS_2_00 = """\
Using uid:65534, gid:65534.
Writing a byte at a time...done
start 'em...done...done...done...done...done...
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
box       16M:16k:3 1029k  49 +++++ +++  1.5g  30 1440k  51 +++++ +++ 350.5   2
Latency             29225us      95us      81us   17764us    1685us   24077us
Version 2.00a       ------Sequential Create------ --------Random Create--------
box                 -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
files:max:min        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
         1:100:10/2 +++++ +++ +++++ +++  1024   4 +++++ +++ +++++ +++  1024   1
Latency             12106us    4069us    8028us     217us     114ms       8s
1.98,2.00a,box,3,1795299930,16M,16k,8192,5,1029,49,+++++,+++,1572864,30,1440,51,+++++,+++,350.5,2,1,100,10,,2,+++++,\
+++,+++++,+++,1822,4,+++++,+++,+++++,+++,1024,1,29225us,95us,81us,17764us,1685us,24077us,12106us,4069us,8028us,217us,\
114ms,8s
"""

TIOBENCH_OLD = """\
No size specified, using 512 MB
Size is MB, BlkSz is Bytes, Read, Write, and Seeks are MB/sec

         File   Block  Num  Seq Read    Rand Read   Seq Write  Rand Write
  Dir    Size   Size   Thr Rate (CPU%) Rate (CPU%) Rate (CPU%) Rate (CPU%)
------- ------ ------- --- ----------- ----------- ----------- -----------
   .     512    4096    1  38.60 20.2% 0.844 0.97% 32.85 34.4% 1.090 0.90%
   .     512    4096    2  30.12 15.1% 0.944 1.00% 31.00 100.% 1.100 0.80%
"""


def tiobench_table(title: str, row: str) -> str:
    """One of the four tables of 0.3.3."""
    return (
        f"\n{title}\n"
        "                              File  Blk   Num                   Avg      Maximum      Lat%     Lat%    CPU\n"
        "Identifier                    Size  Size  Thr   Rate  (CPU%)  Latency    Latency      >2s      >10s    Eff\n"
        "---------------------------- ------ ----- ---  ------ ------ --------- -----------  -------- -------- -----\n"
        f"2.5.68                        252   4096   10  {row}\n"
    )


TIOBENCH = "Unit information\n================\nFile size = megabytes\nLatency   = milliseconds\n" + "".join(
    tiobench_table(title, row)
    for title, row in (
        ("Sequential Reads", "  6.76 3.458%    15.704     2658.86   0.00195  0.00000   196"),
        ("Random Reads", "  0.47 0.441%   221.819     1993.16   0.00000  0.00000   106"),
        ("Sequential Writes", " 21.11 30.80%     4.704     9658.86   0.00100  0.00000    69"),
        ("Random Writes", "  0.57 0.441%     0.119      193.16   0.00000  0.00000   129"),
    )
)

IOZONE = """\
\tIozone: Performance Test of File I/O
\t        Version $Revision: 3.420 $
\tRecord Size 64 KB
\tOutput is in Kbytes/sec
                                                            random  random    bkwd   record   stride
              KB  reclen   write rewrite    read    reread    read   write    read  rewrite     read   fwrite frewrite\
   fread  freread
          409600      64   31782   22524                    816017   10411                  3779260

iozone test complete.
"""

POSTMARK = """\
PostMark v1.5 : 3/27/01
pm>pm>pm>Creating files...Done
Performing transactions..........Done
Deleting files...Done
Time:
\t1024 seconds total
\t642 seconds of transactions (7 per second)

Files:
\t7482 created (7 per second)
\t\tCreation alone: 5000 files (14 per second)
\t\tMixed with transactions: 2482 files (3 per second)
\t2510 read (3 per second)
\t2490 appended (3 per second)
\t7482 deleted (7 per second)
\t\tDeletion alone: 4964 files (118 per second)
\t\tMixed with transactions: 2518 files (3 per second)

Data:
\t13215.77 megabytes read (12.91 megabytes per second)
\t40857.20 megabytes written (39.90 megabytes per second)
pm>
"""

POSTMARK_TERSE = """\
PostMark v1.5 : 3/27/01
Creating files...Done
1024 642 7.79 7.31 14.71 3.87 3.91 3.88 7.31 118.19 3.92 13532951.00 41837772.00
"""

IOSTAT_OLD = """\
Linux 2.6.18-53.1.4.el5 (moon)  12/17/2007

Time: 10:02:03
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           5.16    0.01    0.52    0.04    0.00   94.28

Device:         rrqm/s   wrqm/s   r/s   w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util
sda               1.10    39.82  3.41 13.59   309.50   427.48    43.36     0.17   10.03   1.03   1.75
cciss/c0d0        0.00     6.25  0.03  1.04     1.21    58.28    55.49     0.01   12.12   4.29   0.46

Time: 10:02:04
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           5.16    0.01    0.52    0.04    0.00   94.28

Device:         rrqm/s   wrqm/s   r/s   w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util
sda               0.00     0.00  0.00  7.00     0.00    92.00    13.14     0.01    0.79   0.14   0.10
"""

IOSTAT_12 = """\
Linux 6.1.0 (vm) \t11/22/26 \t_x86_64_\t(2 CPU)

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz\
     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util
vda             34.29    539.32     2.32   6.33    1.36    15.73    2.93    248.83    10.81  78.69    0.72    84.98\
    5.71    125.89     0.00   0.01    0.11    22.06    0.07    0.06    0.05   0.50

"""

IOSTAT_FREEBSD = """\
                        extended device statistics
device     r/s   w/s    kr/s    kw/s qlen svc_t  %b
ad0        0.5   1.2     8.0    15.9    0   5.3   1
ad1        2.5   0.0    40.0     0.0    1   6.0  10
                        extended device statistics
device       r/s     w/s     kr/s     kw/s  ms/r  ms/w  ms/o  ms/t qlen  %b
ad0            0      10      3.3    180.3     0     1     0     1    0   0
"""

MDSTAT = """\
Personalities : [linear] [raid0] [raid1] [raid10] [raid6] [raid5] [raid4]
md1 : active raid5 sdd1[3] sdc1[2] sdb1[1](F) sda1[0]
      2930279808 blocks super 1.2 level 5, 512k chunk, algorithm 2 [4/3] [U_UU]
      [=>...................]  recovery =  9.4% (92364672/976759936) finish=89.5min speed=164556K/sec
      bitmap: 0/8 pages [0KB], 65536KB chunk

md0 : active (auto-read-only) raid1 sdb[1] sda[0](W)
      1000 blocks super 1.2 [2/2] [UU]
        resync=PENDING

md2 : active raid10 sdb[1] sda[0] sdc[2](S)
      1000 blocks super 1.2 512K chunks 2 near-copies [2/2] [UU]

md3 : active raid0 sdb[1] sda[0]
      117187328 blocks 64k chunks

md127 : inactive sda[0](S)
      5032 blocks super external:imsm

unused devices: <none>
"""

MDSTAT_2_4 = """\
Personalities : [raid1] [raid5]
read_ahead 1024 sectors
md0 : active raid5 hde1[0] hdg1[1] hdi1[2]
      39061888 blocks level 5, 64k chunk, algorithm 0 [3/3] [UUU]
      [==>..................]  resync = 13.6% (10667776/78150720) finish=51.2min speed=21924K/sec
unused devices: <none>
"""

DD = """\
5120+0 records in
5120+0 records out
5368709120 bytes (5.4 GB, 5.0 GiB) copied, 25.7934 s, 208 MB/s

real\t0m25.801s
user\t0m0.012s
sys\t0m3.204s
"""
DD_FORMS = {
    "10+1 records in\n10+1 records out\n": None,
    "1073741824 bytes (1.1 GB) copied, 2 seconds, 537 MB/s\n": 2.0,
    "1073741824 bytes (1.1 GB) copied, 2.00012 s, 537 MB/s\n": 2.00012,
    "900 bytes copied, 9.8632e-05 s, 9.1 MB/s\n": 9.8632e-05,
    "1073741824 bytes (1.0GB) copied, 2.000000 seconds, 512.0MB/s\n": 2.0,
    "1073741824 bytes transferred in 2.000000 secs (536870912 bytes/sec)\n": 2.0,
    "1 byte (1 B) copied, 1 s, 0.0 kB/s\n": 1.0,
}
TIME_FORMS = (
    "\nreal\t1m2.500s\nuser\t0m10.000s\nsys\t0m15.000s\n",
    "real 62.50\nuser 10.00\nsys 15.00\n",
    (
        "10.00user 15.00system 1:02.50elapsed 40%CPU (0avgtext+0avgdata 1032maxresident)k\n"
        "0inputs+0outputs (0major+73minor)pagefaults 0swaps\n"
    ),
    "       62.50 real        10.00 user        15.00 sys\n",
    "./run  10.00s user 15.00s system 40% cpu 1:02.50 total\n",
    (
        '\tCommand being timed: "./run"\n\tUser time (seconds): 10.00\n\tSystem time (seconds): 15.00\n'
        "\tPercent of CPU this job got: 40%\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 1:02.50\n\tExit status: 0\n"
    ),
)


def _latency(unit: float, count: int = 100) -> dict[str, Any]:
    return {"min": 50 * unit, "max": 900 * unit, "mean": 100.5 * unit, "stddev": 12.25 * unit, "N": count}


def fio_3(**changes: Any) -> dict[str, Any]:
    """What fio 3 prints of one job that read at random for two seconds, with the bins of json+."""
    clat = _latency(1000)
    clat["percentile"] = {"50.000000": 99840, "99.000000": 206848, "99.900000": 806912}
    clat["bins"] = {"99840": 80, "206848": 20}
    nothing = {"io_bytes": 0, "io_kbytes": 0, "bw_bytes": 0, "bw": 0, "iops": 0.0, "runtime": 0, "total_ios": 0}
    read: dict[str, Any] = {"io_bytes": 81920000, "io_kbytes": 80000, "bw_bytes": 40960000, "bw": 40000, "iops": 5000.0}
    read |= {"runtime": 2000, "total_ios": 10000, "slat_ns": _latency(1), "clat_ns": clat, "lat_ns": _latency(1001)}
    job = {
        "jobname": "rr",
        "groupid": 0,
        "error": 0,
        "job options": {"rw": "randread", "bs": "8k", "iodepth": "16", "numjobs": "2"},
        "read": read | changes,
        "write": nothing,
        "sync": {"total_ios": 0, "lat_ns": _latency(0)},
        "job_runtime": 2000,
        "usr_cpu": 2.5,
        "sys_cpu": 7.25,
        "iodepth_level": {"1": 0.0, "16": 100.0, ">=64": 0.0},
        "latency_us": {"100": 80.0, "250": 20.0},
        "latency_ms": {">=2000": 0.0},
    }
    disks = [{"name": "sda", "read_ios": 10000, "write_ios": 3, "util": 99.5}]
    options = {"ioengine": "libaio", "direct": "1"}
    return {"fio version": "fio-3.33", "global options": options, "jobs": [job], "disk_util": disks}


def fio_2() -> str:
    """What fio 2 prints: KiB, microseconds, and a list of percentiles that is filled up with zeros."""
    read: dict[str, Any] = {"io_bytes": 80000, "bw": 40000, "iops": 5000.0, "runtime": 2000}
    read |= {"slat": _latency(0.01), "clat": _latency(1) | {"percentile": {"50.000000": 99}}, "lat": _latency(1)}
    job = {"jobname": "old", "groupid": 0, "error": 0, "read": read, "usr_cpu": 2.5, "sys_cpu": 7.25}
    filled = '"50.000000": 99, "0.00" : 0, "0.00" : 0'
    return json.dumps({"fio version": "fio-2.1.11", "jobs": [job]}, indent=2).replace('"50.000000": 99', filled)


FIO = json.dumps(fio_3(), indent=2) + "\n"
"""A report of fio 3."""

PASTED = Path(__file__).with_name("pasted")
ALL = {
    "fio": FIO,
    "fio-2": fio_2(),
    "bonnie": BONNIE_1_4,
    "bonnie-bray": BONNIE_BRAY,
    "bonnie++": BONNIE_PLUS_PLUS_1_03,
    "bonnie++-csv": BONNIE_PLUS_PLUS_1_03_CSV,
    "bonnie++-2": BONNIE_PLUS_PLUS_2_00,
    "tiobench": TIOBENCH,
    "tiobench-old": TIOBENCH_OLD,
    "iozone": IOZONE,
    "postmark": POSTMARK,
    "postmark-terse": POSTMARK_TERSE,
    "iostat": IOSTAT_OLD,
    "iostat-12": IOSTAT_12,
    "iostat-freebsd": IOSTAT_FREEBSD,
    "mdstat": MDSTAT,
    "mdstat-2.4": MDSTAT_2_4,
    "dd": DD,
    **{f"dd-{index}": text for index, text in enumerate(DD_FORMS)},
    **{f"time-{index}": text for index, text in enumerate(TIME_FORMS)},
    **{path.stem: path.read_text(encoding="utf-8") for path in sorted(PASTED.glob("*.txt"))},
}
"""Every sample by a name that begins with its format's."""
