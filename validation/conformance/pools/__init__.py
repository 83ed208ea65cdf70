"""Recorded pools of ZFS at work: what the ARC holds, how writers are throttled, the rates of jobs."""
