"""What LinkGuardian would do on a link: copies, losses, speed, delays and buffers."""
