"""Pictures of results, one kind of result a file."""
