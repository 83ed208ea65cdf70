"""Readers of what tells the arrays of Linux's md driver."""
