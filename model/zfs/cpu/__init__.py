"""CPU time of a pool: what work costs, and the threads that do it."""
