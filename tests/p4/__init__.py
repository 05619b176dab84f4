"""The programs of ``p4/`` on the reference switch: the same arrivals as an engine, the same decisions."""
