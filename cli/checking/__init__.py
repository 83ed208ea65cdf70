"""Commands that check the model itself: against recordings of real programs, and against laws of every machine."""
