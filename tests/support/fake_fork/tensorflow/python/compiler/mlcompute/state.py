"""What the stand-in remembers: whether a tensor was made, and whether operations run at once."""

initialized = False
eager = True
