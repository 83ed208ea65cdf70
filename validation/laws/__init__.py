"""Laws that hold for every machine, each with a check of a scenario: bounds, conservation, queueing, symmetry."""
