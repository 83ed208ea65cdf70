"""The text that programs print: its lines and cells, what a paste does to them, and the figures read from it."""
