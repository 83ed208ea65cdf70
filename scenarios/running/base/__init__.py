"""What every run on a machine has: how much of it is simulated, what it measures, what it gives."""
