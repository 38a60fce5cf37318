"""Where objects of the user's are seen, they are read through `measure/user_objects.py` and nothing else.

Read from the source: a call of `isinstance`, `getattr` and the like, or an attribute of an object's type,
runs code of the user's where it is given an object of theirs. What these modules ask of their own objects
stands in `OWN`, and of a syntax tree they may ask anything.
"""

import ast
import re
from pathlib import Path

import pytest
from tracked import tracked

import jupyter_mlgpu

ROOT = Path(jupyter_mlgpu.__file__).parent
#: Calls that ask an object, or its type.
ASKS = {
    *("isinstance", "issubclass", "getattr", "hasattr", "setattr", "vars", "dir", "callable", "hash"),
    *("repr", "format", "ascii", "bool", "str"),
}
#: Attributes of a type, or of any object, that a type of the user's may answer for.
OF_TYPES = {"__class__", "__dict__", "__module__", "__name__", "__qualname__", "__mro__", "__wrapped__"}

#: Modules that see objects of the user's: values, results, exceptions, streams, callbacks, modules, frames.
SEE = [
    "jupyter/notebook/capture/capture_kernel",
    "jupyter/notebook/cell/cell_callbacks",
    "jupyter/notebook/cell/events",
    "jupyter/notebook/cell/named_numbers",
    "jupyter/notebook/cell/named_values",
    "jupyter/notebook/magics/magic_ownership",
    "jupyter/notebook/magics/race_cell",
    "jupyter/notebook/cell/receipts",
    "jupyter/notebook/cell/record_stages",
    "jupyter/notebook/cell/tracebacks",
    "measure/activity/calls",
    "measure/activity/sample_counts",
    "measure/activity/stack",
    "measure/activity/stack_sampler",
    "measure/capture/hooks",
    "measure/frameworks/imports",
    "measure/frameworks/jax/arrays",
    "measure/frameworks/mlx/layer_times",
    "measure/frameworks/mlx/unevaluated",
    "measure/frameworks/placed_values",
    "measure/frameworks/tensorflow/weights",
    "measure/frameworks/torch/default_device",
    "measure/frameworks/torch/tensors",
    "measure/guarded",
    "measure/handlers",
    "measure/uninterrupted",
    "teach/cell_holds",
]
#: What tells that a module sees some.
SIGNS = re.compile(
    r"user_ns\b|f_globals|f_locals|_current_frames|error_in_exec|sys\.modules\.get|exc_info\(|\bresult: Any"
    r"|sys\.(stdout|stderr|meta_path|displayhook)\b|values: Mapping\[str, object\]|getsignal"
)
#: Modules with such a sign that see no object of the user's, or run their code because they are told to.
OTHERS = {
    "jupyter/notebook/browser/audience": "IPython's result",
    "jupyter/notebook/cell/traced_cells": "hands the namespace and the streams on",
    "jupyter/notebook/magics/magics": "hands the namespace on",
    "jupyter/notebook/post_mortem": "hands the namespace on",
    "jupyter/notebook/magics/ops_command": "runs the cell for `--repeat`, and raises its exception again",
    "jupyter/notebook/magics/progress": "a progress line, in a terminal alone",
    "jupyter/notebook/magics/race_fresh": "prints what a child process says",
    "measure/capture/detached_process": "a process of ours",
    "measure/checking/check_mode": "what PyTorch's operations give: plain tensors and numbers",
    "measure/checking/adam": "the same",
    "measure/checking/bounds": "the same",
    "measure/checking/reference": "the same",
    "measure/capture/losses": "names the streams in a sentence",
    "measure/frameworks/base": "the interface",
    "measure/frameworks/jax/backend": "hands the values on",
    "measure/frameworks/mlx/backend": "hands the values on",
    "measure/frameworks/tensorflow/backend": "hands the values on",
    "measure/frameworks/torch/backend": "hands the values on",
    "measure/frameworks/tensorflow/mlcompute_fork": "a program of its own",
    "measure/gpu/ioregistry": "what the system says",
    "measure/selection": "hands the values on",
}
#: What these modules ask of objects that are not the user's, by whose they are.
OWN = {
    "measure/activity/calls": {"Python's own": {"vars(builtins)"}},
    "measure/frameworks/imports": {
        "the import system's, which asks a loader of the user's for the same": {
            "hasattr(loader, 'exec_module')",
            "getattr(spec, '_initializing', False)",
        }
    },
    "measure/frameworks/jax/arrays": {"JAX's": {"getattr(module('jax._src.array'), 'ArrayImpl', None)"}},
    "measure/frameworks/mlx/unevaluated": {
        "MLX's": {
            "getattr(module('mlx.core'), 'get_array_buffer_size', None)",
            "getattr(module('mlx.nn'), 'Module', None)",
        }
    },
    "measure/frameworks/tensorflow/weights": {
        "Keras's": {"getattr(keras, 'Layer', None)", "getattr(keras, 'Variable', None)"}
    },
    "measure/frameworks/torch/default_device": {
        "PyTorch's": {
            "getattr(torch, name)",
            "getattr(torch._GLOBAL_DEVICE_CONTEXT, 'device_context', None)",
        }
    },
    "measure/guarded": {
        "ours": {
            "isinstance(observation, Observed)",
            "isinstance(observation, str)",
            "isinstance(taken, Reading)",
        }
    },
    "measure/uninterrupted": {"asked in C, by its type": {"callable(before)"}},
    "jupyter/notebook/capture/capture_kernel": {
        "a stream or a session of ipykernel's, or what covers one": {
            "InOrder.__module__",
            "InOrder.__name__",
            "InOrder.__qualname__",
            "kind.__module__",
            "kind.__name__",
            "ours.__wrapped__",
            "stream.__class__",
            "vars(session)",
            "vars(stream)",
        }
    },
    "jupyter/notebook/cell/cell_callbacks": {
        "IPython's": {"getattr(result, 'success', False)", "vars(self._shell)"},
        "asked in C, by its type": {"callable(handler)"},
    },
    "jupyter/notebook/cell/events": {
        "ours": {"bool(self._here.running)"},
        "IPython's": {
            "getattr(info, 'cell_id', None)",
            "getattr(result, 'execution_count', None)",
            "getattr(stack[0].info, 'cell_id', None)",
            "str(self.shell.parent_header['msg_id'])",
        },
    },
    "jupyter/notebook/magics/race_cell": {"the text of a cell": {"str(inputs[number])"}},
    "jupyter/notebook/cell/receipts": {
        "IPython's and ipykernel's": {
            "getattr(get_ipython(), 'kernel', None)",
            "getattr(kernel, 'engine_id', None)",
            "getattr(kernel, 'iopub_thread', None)",
            "getattr(self._publisher, name)",
            "getattr(shell, 'kernel', None)",
        }
    },
    "jupyter/notebook/cell/tracebacks": {
        "IPython's": {
            "getattr(self._shell, name)",
            "hasattr(shell, name)",
            "setattr(self._shell, name, covered)",
            "setattr(self._shell, name, own)",
            "vars(self._shell)",
        }
    },
}


def name_of(path):
    return str(path.relative_to(ROOT).with_suffix(""))


SOURCES = {
    name_of(path): path.read_text(encoding="utf-8")
    for pattern in ("measure/**/*.py", "jupyter/notebook/**/*.py", "teach/cell_holds.py")
    for path in tracked(ROOT, pattern)
}


def asked(source):
    """What a module asks of objects, as it is written, but for what it asks of syntax trees."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name("isinstance"), args=[_, kinds]) if "ast." in ast.unparse(kinds):
                pass
            case ast.Call(func=ast.Name(name)) if name in ASKS:
                found.add(ast.unparse(node))
            case ast.Attribute(attr=name) if name in OF_TYPES:
                found.add(ast.unparse(node))
            case ast.Compare(left=ast.Call(func=ast.Name("type")), ops=[ast.In() | ast.NotIn() | ast.Eq()]):
                found.add(ast.unparse(node))
    return found


@pytest.mark.parametrize("module", SEE)
def test_who_sees_objects_of_the_user_s_asks_them_nothing(module):
    allowed = set().union(*OWN.get(module, {}).values())
    found = asked(SOURCES[module])
    assert found - allowed == set(), "use measure/user_objects.py, or say in OWN whose object it is"
    assert allowed - found == set(), "asked no more"


def test_every_module_that_sees_objects_of_the_user_s_is_known():
    signs = {name for name, source in SOURCES.items() if SIGNS.search(source)}
    assert signs - set(SEE) - OTHERS.keys() == set()
    assert OTHERS.keys() - signs == set()


def test_code_that_asks_an_object_is_found():
    for line in (
        "isinstance(value, ModuleType)",
        "type(value).__module__",
        "type(value) in KINDS",
        "bool(value)",
    ):
        assert asked(line) != set(), line
