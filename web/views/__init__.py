"""The pages: what is shown, and how."""
