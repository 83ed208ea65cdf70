"""The mechanics of a hard disk: where bytes lie on the platters, seek times, the arm and the angle of the platters."""
