"""Tables and sentences that several answers share."""
