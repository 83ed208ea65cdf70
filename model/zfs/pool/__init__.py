"""A pool as a device: its queues, transaction groups and intent log, and the files and volumes that loads use."""
