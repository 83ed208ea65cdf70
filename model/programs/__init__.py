"""What benchmark programs do: each is a generator of operations, which knows no time and no device."""
