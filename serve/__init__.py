"""A predicted array as a network block device: real programs do I/O on an array that nobody has built."""
