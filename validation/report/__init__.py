"""The validation report: words, plots, HTML."""
