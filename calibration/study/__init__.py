"""Studies as data: cells, parameters, runs, figures."""
