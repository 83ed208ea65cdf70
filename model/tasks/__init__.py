"""The host: CPUs, prices of kernel work, plugs, and threads that sleep in their submission."""
