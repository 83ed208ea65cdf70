"""Designs side by side: speed under the same requests, what they hold, and what they survive."""
