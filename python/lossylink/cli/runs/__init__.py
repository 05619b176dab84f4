"""``lossylink run`` and ``sweep``, and how rows are shown."""
