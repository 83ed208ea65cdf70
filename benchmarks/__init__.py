"""How fast the simulator itself is, in units of what bare SimPy does on the same machine."""
