"""What runs leave behind for the next one: the cache on the disk, its pack, its key and what is kept (layer: ``driver``)."""
