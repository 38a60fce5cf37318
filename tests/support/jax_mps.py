"""A pytest plugin, after which JAX has a second client of its CPU, under the name and priority of jax-mps.

To JAX it is a platform of its own, with its own devices, arrays and programs, as a plug-in's is. Its memory
is not counted, as with metaljax.
"""

from __future__ import annotations

from jax._src import xla_bridge

xla_bridge.register_backend_factory("mps", xla_bridge.make_cpu_client, priority=500)
