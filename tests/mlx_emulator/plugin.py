"""A plug-in of pytest: the tests of this run find MLX as on a Mac (`-p tests.mlx_emulator.plugin`)."""

from tests.mlx_emulator.mac import install

MAC = install()
