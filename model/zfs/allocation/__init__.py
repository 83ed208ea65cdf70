"""Which free space a block gets: metaslabs, first fit, vdevs in turn, gang blocks."""
