"""Which parameter moves an answer most."""
