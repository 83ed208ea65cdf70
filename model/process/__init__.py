"""A process that runs the operations of a program."""
