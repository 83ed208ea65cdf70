"""What a few measurements of a box say of all that was not measured."""
