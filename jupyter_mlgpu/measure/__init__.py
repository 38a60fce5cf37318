"""One cell: the recorder, the device asked for, probes, native lines as they come, profiles, frameworks."""
