"""What each tool prints of a machine, one parser a tool."""
