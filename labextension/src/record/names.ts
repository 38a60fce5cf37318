/**
 * What people call frameworks and other libraries: jupyter_mlgpu/measure/frameworks/registry.py.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

export const FRAMEWORKS = new Map([
  ['tensorflow', 'TensorFlow'],
  ['torch', 'PyTorch'],
  ['jax', 'JAX'],
  ['mlx', 'MLX']
]);

export const LIBRARIES = new Map([
  ['keras', 'Keras'],
  ['numpy', 'NumPy'],
  ['python', 'Python']
]);
