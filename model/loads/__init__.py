"""Loads past the page cache: closed, open and traced, with their arrival times and locality."""
