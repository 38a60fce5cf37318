"""Graphs that run: named inputs, a device to compile for, data to execute with, and results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from jupyter_mlgpu.graphs.mlcompute.device import Target
from jupyter_mlgpu.graphs.mlcompute.engine import Executable, Values
from jupyter_mlgpu.graphs.mlcompute.names import choose, insist, options
from jupyter_mlgpu.graphs.mlcompute.optimizers import Optimizer
from jupyter_mlgpu.graphs.mlcompute.structure import Graph, Program, in_order
from jupyter_mlgpu.graphs.mlcompute.tensors import FLOATS, Array, Tensor, TensorData
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.errors import GraphError

Data = Mapping[str, TensorData | ArrayLike]
Named = Mapping[str, Tensor]
Words = str | Iterable[str]
Handler = Callable[[Tensor | None, Exception | None, float | None], None] | None
"""Called when an execution has finished, with its result, error and seconds.

The result and the error may be None; the seconds are None unless profiling was requested.
"""


class ExecutableGraph(Graph):
    """The base of inference and training graphs. Layers may be added to it directly before it is compiled."""

    optimizer: Optimizer | None = None

    def __init__(self, graphs: Iterable[Graph]) -> None:
        super().__init__()
        given = list(graphs)
        fine = all(isinstance(graph, Graph) for graph in given)
        insist(fine, "A graph to execute is made of a list of graphs: [mlc.graph(), ...].")
        self.steps = in_order(step for graph in given for step in graph.steps)
        self.device: Target | None = None
        #: Seconds of the last execution with the option `profiling`, including the device's work; else None.
        self.execution_time: float | None = None
        self._inputs: dict[str, Tensor] = {}
        self._outputs: dict[str, Tensor] = {}
        self._stopped: set[Tensor] = set()
        self._makers: list[ExecutableGraph] = []
        self._users: list[ExecutableGraph] = []
        self._compiled: tuple[Executable, Program] | None = None
        self._gradients: Values = {}
        self._count = 0
        self._pending: threading.Thread | None = None
        self._unchecked = False

    # Putting it together.

    def add_inputs(
        self, inputs: Named, loss_labels: Named | None = None, loss_label_weights: Named | None = None
    ) -> bool:
        """Name the tensors that get data at each execution.

        Raises:
            GraphError: a name is taken, or no layer takes the tensor.
        """
        taken = {source for step in self.steps for source in step.sources}
        for some in (inputs, loss_labels or {}, loss_label_weights or {}):
            for name, tensor in some.items():
                fine = isinstance(tensor, Tensor)
                insist(fine, f"add_inputs takes tensors, and {name!r} is {tensor!r:.60}.")
                other = self._inputs.get(name, tensor)
                insist(other is tensor, f"There are two inputs of the name {name!r}: {other} and {tensor}.")
                no = "so it cannot be an input"
                insist(tensor not in self._made(), f"{tensor} is made by this graph, {no}.")
                insist(not tensor.own, f"{tensor} has values of its own, {no}.")
                used = some is not inputs or tensor in taken
                insist(used, f"No layer of this graph takes {tensor}, given as the input {name!r}.")
                self._inputs[name] = tensor
        self._compiled = None
        return True

    def add_outputs(self, outputs: Named) -> bool:
        """Name results, whose values are then in `outputs`."""
        for name, tensor in outputs.items():
            made = tensor in self._made()
            insist(made, f"{tensor}, given as the output {name!r}, is no result of this graph.")
        self._outputs |= outputs
        return True

    @property
    def outputs(self) -> dict[str, Array]:
        """The values of the named results."""
        return {name: tensor.numpy() for name, tensor in self._outputs.items()}

    def link_with(self, graphs: Iterable[ExecutableGraph]) -> bool:
        """Join graphs of which one takes results of the other, which is executed first and passes them on.

        Raises:
            GraphError: two share nothing, or depend on each other in a circle.
        """
        for other in graphs:
            gives, takes = _takes(other, self), _takes(self, other)
            insist(gives or takes, "These two graphs cannot be linked: neither takes a result of the other.")
            maker, user = (self, other) if gives else (other, self)
            circle = (gives and takes) or user in maker._before()
            insist(not circle, "These graphs cannot be linked: each would wait for the other, in a circle.")
            maker._users.append(user)
            user._makers.append(maker)
        return True

    def _before(self) -> set[ExecutableGraph]:
        return {self}.union(*(maker._before() for maker in self._makers))

    def compile(self, device: Target, compilation_options: Words = ()) -> bool:
        """Compile the graph for a device, and return True.

        All options of MLCGraphCompilationOptions are accepted, and none is needed: every tensor can be read
        after an execution, and all gradients are computed.

        Raises:
            GraphError: there is no layer, or a tensor has no source.
        """
        fine = isinstance(device, Target)
        insist(fine, f"compile takes a device, mlc.device('any'), and was given {device!r:.60}.")
        options("MLCGraphCompilationOptions", compilation_options, "compile")
        insist(self.steps, "There is nothing to compile: the graph has no layer. Add one with add_layer.")
        program = self._program()
        self._compiled, self.device = (device.compile(program), program), device
        return True

    @property
    def parameters(self) -> tuple[Tensor, ...]:
        """The tensors that an optimizer updates; `.numpy()` and `.gradient` read them."""
        return ()

    def _losses(self) -> tuple[Tensor, ...]:
        return ()

    def _program(self) -> Program:
        steps, made = tuple(in_order(self.steps)), self._made()
        linked = {result for maker in self._makers for result in maker._made()}
        inputs, own = dict.fromkeys(self._inputs.values()), dict[Tensor, None]()
        for step in steps:
            own |= dict.fromkeys((*step.layer.parameters, *step.layer.statistics))
            for source in step.sources:
                if source.own or source in linked:
                    (own if source.own else inputs)[source] = None
                why = "has no values and is no input: name it in add_inputs"
                if source.step is not None:
                    maker = f"is made by {source.step.layer.title} in another graph"
                    why = f"{maker}: give that graph, too, or link them"
                known = source in made or source in inputs or source in own
                insist(known, f"{step.layer.title} takes {source}, which {why}.")
        learnt = self.parameters, self._losses(), frozenset(self._stopped), self.optimizer
        return Program(steps, tuple(inputs), tuple(own), *learnt)

    def _made(self) -> set[Tensor]:
        return {result for step in self.steps for result in step.results}

    def described(self) -> Mapping[str, str]:
        return {"device": "not compiled" if self.device is None else str(self.device)}

    # Running it.

    def execute(
        self,
        inputs_data: Data,
        batch_size: int = 0,
        execution_options: Words = (),
        completion_handler: Handler = None,
    ) -> bool:
        """Compute all results from this data; afterwards every tensor has values.

        Args:
            inputs_data: by the names given to add_inputs.
            batch_size: 0 takes the shapes as they are. Another number is the number of examples, at most the
                tensors' first size; it replaces this size in every input that has it.
            execution_options: of MLCExecutionOptions. `synchronous` waits for the device. `profiling`
                measures execution_time. `per_layer_profiling` also runs the layers one by one, and
                measures the seconds of each.
            completion_handler: see Handler.

        Raises:
            GraphError: the graph is not compiled, data is missing, has another size or type, or NaN came out.
        """
        feeds = self._feeds(inputs_data, batch_size, "execute")
        return self._forward(feeds, False, execution_options, completion_handler)

    def _forward(self, feeds: list[Array], training: bool, words: Words, handler: Handler) -> bool:
        executable = self._profiled(feeds, training, words)
        return self._run(lambda: (executable.forward(feeds, training, self._count), {}), words, handler)

    def _profiled(self, feeds: list[Array], training: bool, words: Words) -> Executable:
        """Return the executable; with the option for it, after each layer has been timed separately."""
        executable, _ = self._ready("execute")
        if "PerLayerProfiling" in options("MLCExecutionOptions", words, "execute"):
            for step, seconds in executable.times(feeds, training, self._count).items():
                step.seconds = seconds
        return executable

    def _run(self, work: Callable[[], tuple[Values, Values]], words: Words, handler: Handler) -> bool:
        """Compute results and gradients on this thread, and finish when the device has finished."""
        self.wait()
        chosen = options("MLCExecutionOptions", words, "execute")
        (executable, _), start = self._ready("execute"), real_time.perf_counter()
        results, gradients = work()
        for tensor, value in results.items():
            tensor._value, tensor._before_reading = value, self._before_reading
        for tensor, gradient in gradients.items():
            tensor._gradient = gradient
        self._gradients, self._count = gradients or self._gradients, self._count + bool(results)
        self._unchecked = True

        def finish() -> None:
            executable.wait()
            self.execution_time = real_time.perf_counter() - start if "Profiling" in chosen else None
            if handler is not None:
                handler(next(reversed(self.ends()), None), self._not_numbers(), self.execution_time)

        if not executable.asynchronous or chosen & {"Synchronous", "Profiling"}:
            if handler is not None or "Profiling" in chosen:
                finish()
            self.wait()
        elif handler is not None:
            self._pending = threading.Thread(target=finish, daemon=True)
            self._pending.start()
        return True

    def wait(self) -> None:
        """Wait until the device has finished and the completion handler has returned.

        Raises:
            GraphError: the execution gave NaN.
        """
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.join()
        unchecked, self._unchecked = self._unchecked, False
        if unchecked and (error := self._not_numbers()) is not None:
            raise error

    def _not_numbers(self) -> GraphError | None:
        """Return an error that says where NaN first appeared, if any end of the graph has NaN."""
        _, program = self._ready("execute")
        if not any(_nan(tensor) for tensor in self.ends()):
            return None
        for tensor in filter(_nan, program.inputs):
            return GraphError(f"The data given to {tensor} holds NaN in {_nan(tensor)} of its numbers.")
        step, tensor = next((step, one) for step in program.steps for one in step.results if _nan(one))
        numbers = f"{_nan(tensor)} of the {np.asarray(tensor._value).size} numbers of {tensor}"
        made_of = " and ".join(map(str, step.sources))
        hint = "mlc.explain(tensor) shows their values"
        return GraphError(f"{step.layer.title} gave NaN in {numbers}, made of {made_of}; {hint}.")

    def _ready(self, call: str) -> tuple[Executable, Program]:
        if self._compiled is None:
            raise GraphError(f"{call} comes after compile: call compile(mlc.device('any')) first.")
        return self._compiled

    def _feeds(self, data: Data, batch_size: int, call: str) -> list[Array]:
        _, program = self._ready(call)
        given = {self._inputs[choose(self._inputs, name, call)]: one for name, one in data.items()}
        whole = program.inputs[0].shape[0] if program.inputs and program.inputs[0].shape else 0
        wanted = f"from 0 to {whole}, the first size of its inputs"
        insist(0 <= batch_size <= whole, f"{call} takes a batch_size {wanted}, not {batch_size}.")
        for tensor in program.inputs:
            if tensor in given:
                batched = batch_size and tensor.shape and tensor.shape[0] == whole
                tensor._value = tensor.fill(given[tensor], batch_size if batched else None)
                continue
            name = next((name for name, one in self._inputs.items() if one is tensor), tensor.name)
            found = f"was given {', '.join(data) or 'none'}"
            linked = tensor.step is not None and tensor.has_values
            insist(linked, f"{call} needs data for {name}, {tensor}, and {found}.")
        for step in program.steps:
            for place, limit in step.layer.limits.items():
                source = step.sources[place]
                if source in given:
                    low, high = source._value.min(), source._value.max()
                    layer = f"{step.layer.title} chooses by {source} from 0 to {limit - 1}"
                    insist(0 <= low <= high < limit, f"{layer}, and was given {low} to {high}.")
        return [tensor._value for tensor in program.inputs]

    def _before_reading(self) -> None:
        if threading.current_thread() is not self._pending:
            self.wait()


def _takes(user: ExecutableGraph, maker: ExecutableGraph) -> bool:
    return any(source in maker._made() for step in user.steps for source in step.sources)


def _nan(tensor: Tensor) -> int:
    """Return how many of the tensor's values are NaN."""
    return int(np.isnan(np.asarray(tensor._value)).sum()) if tensor.data_type in FLOATS else 0


class InferenceGraph(ExecutableGraph):
    """A graph that computes results. Dropout is off, and batch normalization uses its running statistics."""
