"""Questions that take several runs: load curve, rebuild, without the bottleneck, replications."""
