"""Where a pool puts a block: the member requests of reads, writes and scrubs, from a block's place and size."""
