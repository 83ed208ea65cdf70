"""The intent log: what a synchronous write puts on stable storage before its transaction group does."""
