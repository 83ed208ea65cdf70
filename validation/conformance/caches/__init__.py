"""Recorded SSD caches: dm-cache, dm-writecache and bcache, with the requests of every device."""
