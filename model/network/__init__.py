"""Storage over a network: protocols and the server behind them."""
