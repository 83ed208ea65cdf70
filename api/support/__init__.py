"""What the public functions share: values as tables and JSON, progress, pictures that a notebook shows."""
