"""MLX as on a Mac, for tests: `EMULATE` is a cell that makes it so in a kernel without the extension."""

from pathlib import Path

EMULATE = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from tests.mlx_emulator.kernel import emulate
mac = emulate()
"""
