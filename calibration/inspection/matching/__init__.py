"""The nearest part of the catalogue for a drive, a controller, a processor or a kernel that was found."""
