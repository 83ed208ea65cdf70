"""How well a few measurements of a box predict the others: raidsim and methods that know nothing of storage."""
