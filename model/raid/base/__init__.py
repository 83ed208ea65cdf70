"""What every array has: members, joins, splits at the limit of an I/O."""
