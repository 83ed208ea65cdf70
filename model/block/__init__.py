"""The kernel's block layer: single-queue, multi-queue, hardware queues, throttles, threads that submit."""
