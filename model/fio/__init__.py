"""Runs the jobs of fio: engine, threads, files, pace and statistics."""
