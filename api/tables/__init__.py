"""What each answer of the API has in it: its sentences, tables and pictures."""
