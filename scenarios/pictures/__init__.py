"""Style and letters of all pictures."""
