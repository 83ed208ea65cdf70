"""The explorer: designs, loads and what they give, in a browser."""
