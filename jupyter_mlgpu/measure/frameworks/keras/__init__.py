"""Keras on any framework. Keras is not a framework itself here, and so is not registered."""
