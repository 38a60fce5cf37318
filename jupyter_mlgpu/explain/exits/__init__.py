"""Find out why a kernel died, from its flight record and the exit of its process."""
