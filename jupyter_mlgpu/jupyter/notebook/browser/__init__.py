"""Messages between the kernel and browsers, and the sidebar's settings."""
