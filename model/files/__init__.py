"""What people write: quantities, descriptions, YAML with positions, catalogue files, and how files are written."""
