"""Arrays that md moves from one layout to another while they are in use (``mdadm --grow``)."""
