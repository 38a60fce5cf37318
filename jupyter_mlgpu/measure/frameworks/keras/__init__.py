"""What Keras brings to any framework that it runs on: not one itself, and so not registered."""
