"""Native lines as they come: the descriptors that are captured, and what waits to be read."""
