"""What tracing costs, measured on the machine at hand. README.md says how to read the figures."""
