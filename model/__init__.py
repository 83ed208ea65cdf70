"""The simulated machine: hardware, kernel and workloads; it knows no measurement."""
