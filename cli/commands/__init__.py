"""The commands of raidsim, one a file."""
