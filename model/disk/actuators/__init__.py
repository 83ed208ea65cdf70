"""Hard disks with several actuators: arms of their own over a part of the platters each."""
