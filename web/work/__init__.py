"""The work behind a page: runs, tasks, explanations."""
