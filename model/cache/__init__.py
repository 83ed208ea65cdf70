"""SSD caches in front of a slow device: dm-cache with its policy smq, dm-writecache, bcache."""
