"""What every part of the machine needs: the clock, requests and devices, random streams, errors, extents."""
