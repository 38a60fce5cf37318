"""Graphs that run: named inputs, a device to compile for, data to execute with, and what came of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jupyter_mlgpu.errors import GraphError
from jupyter_mlgpu.mlcompute.device import Device
from jupyter_mlgpu.mlcompute.engine import Executable
from jupyter_mlgpu.mlcompute.graph import Graph, Program, in_order
from jupyter_mlgpu.mlcompute.layers.losses import Loss
from jupyter_mlgpu.mlcompute.names import choose, options
from jupyter_mlgpu.mlcompute.optimizers import Optimizer
from jupyter_mlgpu.mlcompute.tensors import FLOATS, Array, Tensor, TensorData

Data = Mapping[str, TensorData | ArrayLike]
Named = Mapping[str, Tensor]
#: Called when an execution is over, with the result (or None), the error (or None), and the seconds that it
#: took if profiling was asked for (else None).
CompletionHandler = Callable[[Tensor | None, Exception | None, float | None], None]


class ExecutableGraph(Graph):
    """What inference and training share. Layers may be added to it directly before it is compiled."""

    optimizer: Optimizer | None = None

    def __init__(self, graphs: Iterable[Graph]) -> None:
        super().__init__()
        given = list(graphs)
        if not all(isinstance(graph, Graph) for graph in given):
            raise GraphError("A graph to execute is made of a list of graphs: [mlc.graph(), ...].")
        self.steps = in_order(step for graph in given for step in graph.steps)
        self.device: Device | None = None
        #: Seconds of the last execution with the option `profiling`, the device's work included; else None.
        self.execution_time: float | None = None
        self._inputs: dict[str, Tensor] = {}
        self._outputs: dict[str, Tensor] = {}
        self._stopped: set[Tensor] = set()
        self._makers: list[ExecutableGraph] = []
        self._users: list[ExecutableGraph] = []
        self._program: Program | None = None
        self._executable: Executable | None = None
        self._bound: tuple[list[Array], int] | None = None
        self._gradients: dict[Tensor, Any] = {}
        self._count = 0
        self._pending: threading.Thread | None = None
        self._unchecked = False

    # Putting it together.

    def add_inputs(
        self, inputs: Named, loss_labels: Named | None = None, loss_label_weights: Named | None = None
    ) -> bool:
        """Names for the tensors that will be given data at each execution.

        Raises:
            GraphError: a name is taken, or no layer takes the tensor.
        """
        taken = {source for step in self.steps for source in step.sources}
        for name, tensor in [
            *inputs.items(),
            *(loss_labels or {}).items(),
            *(loss_label_weights or {}).items(),
        ]:
            if not isinstance(tensor, Tensor):
                raise GraphError(f"add_inputs takes tensors, and {name!r} is {tensor!r:.60}.")
            if self._inputs.get(name, tensor) is not tensor:
                raise GraphError(
                    f"There are two inputs of the name {name!r}: {self._inputs[name]} and {tensor}."
                )
            if any(tensor in step.results for step in self.steps):
                raise GraphError(f"{tensor} is made by a layer of this graph, so it cannot be an input.")
            if tensor.own:
                raise GraphError(f"{tensor} has values of its own, so it cannot be an input.")
            if name in inputs and tensor not in taken:
                raise GraphError(f"No layer of this graph takes {tensor}, given as the input {name!r}.")
            self._inputs[name] = tensor
        self._program = self._executable = None
        return True

    def add_outputs(self, outputs: Named) -> bool:
        """Names for results, under which `outputs` gives their values."""
        made = {result for step in self.steps for result in step.results}
        for name, tensor in outputs.items():
            if tensor not in made:
                raise GraphError(f"{tensor}, given as the output {name!r}, is no result of this graph.")
            self._outputs[name] = tensor
        return True

    @property
    def outputs(self) -> dict[str, Array]:
        """The values of the named results."""
        return {name: tensor.numpy() for name, tensor in self._outputs.items()}

    def link_with(self, graphs: Iterable[ExecutableGraph]) -> bool:
        """Join graphs where one takes what another makes: the maker is executed first, and gives its values
        on.

        Raises:
            GraphError: two that share nothing, or take from each other in a circle.
        """
        for other in graphs:
            gives, takes = _takes(other, self), _takes(self, other)
            if not gives and not takes:
                raise GraphError("These two graphs cannot be linked: neither takes a result of the other.")
            maker, user = (self, other) if gives else (other, self)
            if (gives and takes) or user in maker._before():
                raise GraphError("These graphs cannot be linked: each would wait for the other, in a circle.")
            maker._users.append(user)
            user._makers.append(maker)
        return True

    def _before(self) -> set[ExecutableGraph]:
        return {self}.union(*(maker._before() for maker in self._makers))

    def compile(self, device: Device, compilation_options: str | Iterable[str] = ()) -> bool:
        """Make it ready for a device; True, or an error that says what is missing.

        All options of MLCGraphCompilationOptions are understood, and none is needed: every tensor can be read
        after an execution, and all gradients are computed.

        Raises:
            GraphError: there is no layer, or a tensor comes from nowhere.
        """
        if not isinstance(device, Device):
            raise GraphError(f"compile takes a device, mlc.device('any'), and was given {device!r:.60}.")
        options("MLCGraphCompilationOptions", compilation_options, "compile")
        self._finish_building()
        if not self.steps:
            raise GraphError("There is nothing to compile: the graph has no layer. Add one with add_layer.")
        self._program = self._made()
        self._executable = device.compile(self._program)
        self.device = device
        return True

    def _finish_building(self) -> None:
        """What a training graph adds at the end."""

    def _losses(self) -> tuple[Tensor, ...]:
        return ()

    def _trained(self) -> tuple[Tensor, ...]:
        return ()

    def _made(self) -> Program:
        steps = tuple(in_order(self.steps))
        made = {result for step in steps for result in step.results}
        linked = {result for maker in self._makers for step in maker.steps for result in step.results}
        inputs, own = dict.fromkeys(self._inputs.values()), dict[Tensor, None]()
        for step in steps:
            own |= dict.fromkeys((*step.layer.parameters, *step.layer.kept))
            for source in step.sources:
                if source.own:
                    own[source] = None
                elif source in linked:
                    inputs[source] = None
                elif source not in made and source not in inputs:
                    why = "has no values and is no input: name it in add_inputs"
                    if source.step is not None:
                        why = f"is made by {source.step.layer.title} in another graph: "
                        why += "give that graph, too, or link them"
                    raise GraphError(f"{step.layer.title} takes {source}, which {why}.")
        return Program(
            steps,
            tuple(inputs),
            tuple(own),
            self._trained(),
            self._losses(),
            frozenset(self._stopped),
            self.optimizer,
        )

    # Running it.

    def execute(
        self,
        inputs_data: Data,
        batch_size: int = 0,
        execution_options: str | Iterable[str] = (),
        completion_handler: CompletionHandler | None = None,
    ) -> bool:
        """Compute all results from this data; afterwards every tensor has values.

        Args:
            inputs_data: by the names given to add_inputs.
            batch_size: 0 takes the shapes as they stand. Another number is that of the examples, not more
            than the
                tensors' first size: it stands in its place in every input that has it.
            execution_options: of MLCExecutionOptions. `synchronous` waits for the device; `profiling`
            measures
                execution_time; `per_layer_profiling` runs the layers one by one besides, and notes the
                seconds of each.
            completion_handler: see CompletionHandler.

        Raises:
            GraphError: not compiled yet, data missing, too much or too little, of another type; or NaN came
            out.
        """
        feeds = self._feeds(inputs_data, batch_size, "execute")
        return self._execute(feeds, False, execution_options, completion_handler)

    def _execute(
        self,
        feeds: list[Array],
        training: bool,
        words: str | Iterable[str],
        handler: CompletionHandler | None,
    ) -> bool:
        executable, program = self._ready("execute")

        def work() -> None:
            self._hold(executable.forward(feeds, training, self._count))

        chosen = options("MLCExecutionOptions", words, "execute")
        if "PerLayerProfiling" in chosen:
            times = executable.times(feeds, training, self._count)
            for step, seconds in zip(program.steps, times, strict=True):
                step.seconds = seconds
        return self._run(work, chosen, handler)

    def _run(
        self, work: Callable[[], None], chosen: frozenset[str], handler: CompletionHandler | None
    ) -> bool:
        """Do it on this thread, and what follows, when the device has finished."""
        self.wait()
        executable, _ = self._ready("execute")
        start = time.perf_counter()
        work()
        self._unchecked = True

        def finish() -> None:
            executable.wait()
            self.execution_time = time.perf_counter() - start if "Profiling" in chosen else None
            if handler is not None:
                ends = self.ends()
                handler(ends[-1] if ends else None, self._not_numbers(), self.execution_time)

        if not executable.asynchronous or chosen & {"Synchronous", "Profiling"}:
            if handler is not None or "Profiling" in chosen:
                finish()
            self.wait()
        elif handler is not None:
            self._pending = threading.Thread(target=finish, daemon=True)
            self._pending.start()
        return True

    def wait(self) -> None:
        """Until the device has finished and the completion handler has been called.

        Raises:
            GraphError: the execution gave NaN.
        """
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.join()
        if self._unchecked:
            self._unchecked = False
            if (error := self._not_numbers()) is not None:
                raise error

    def _not_numbers(self) -> GraphError | None:
        """Of the ends of the graph: where NaN first came up."""
        _, program = self._ready("execute")
        if not any(_nan(tensor) for tensor in self.ends()):
            return None
        for tensor in program.inputs:
            if _nan(tensor):
                return GraphError(f"The data given to {tensor} holds NaN in {_nan(tensor)} of its numbers.")
        step, tensor = next((step, one) for step in program.steps for one in step.results if _nan(one))
        sources = " and ".join(map(str, step.sources))
        return GraphError(
            f"{step.layer.title} gave NaN in {_nan(tensor)} of the {tensor.numpy().size} numbers of "
            f"{tensor}, made of {sources}; explain(tensor) of the graph shows their values."
        )

    def _ready(self, call: str) -> tuple[Executable, Program]:
        if self._executable is None or self._program is None:
            raise GraphError(f"{call} comes after compile: call compile(mlc.device('any')) first.")
        return self._executable, self._program

    def _feeds(self, data: Data, batch_size: int, call: str) -> list[Array]:
        _, program = self._ready(call)
        by_tensor = {}
        for name, values in data.items():
            if name not in self._inputs:
                choose("inputs", name, call, self._inputs)
            by_tensor[self._inputs[name]] = values
        whole = program.inputs[0].shape[0] if program.inputs and program.inputs[0].shape else 0
        if batch_size < 0 or batch_size > whole:
            raise GraphError(
                f"{call} takes a batch_size from 0 to {whole}, the first size of its inputs, "
                f"not {batch_size}."
            )
        feeds = []
        for tensor in program.inputs:
            batch = batch_size if batch_size and tensor.shape and tensor.shape[0] == whole else None
            if tensor in by_tensor:
                feeds.append(tensor.fill(by_tensor[tensor], batch))
                tensor._held = feeds[-1]
            elif tensor.step is not None and tensor.has_values:
                feeds.append(tensor._held)
            else:
                given = ", ".join(data) or "nothing"
                name = next((name for name, one in self._inputs.items() if one is tensor), tensor.name)
                raise GraphError(f"{call} needs data for {name}, {tensor}, and was given {given}.")
        self._check_limits(program, by_tensor)
        return feeds

    def _check_limits(self, program: Program, given: Iterable[Tensor]) -> None:
        """That whole numbers which choose a row, a place or a class choose one that there is."""
        for step in program.steps:
            for place, limit in step.layer.limits.items():
                source = step.sources[place]
                if source in given and not 0 <= source._held.min() <= source._held.max() < limit:
                    raise GraphError(
                        f"{step.layer.title} chooses by {source} from 0 to {limit - 1}, and was given "
                        f"{source._held.min()} to {source._held.max()}."
                    )

    def _hold(self, values: Sequence[Any]) -> None:
        """Give every result its value of this execution."""
        _, program = self._ready("execute")
        for tensor, value in zip(program.results, values, strict=True):
            tensor._held, tensor._before_reading = value, self._before_reading
        self._count += 1

    def _before_reading(self) -> None:
        if threading.current_thread() is not self._pending:
            self.wait()

    def described(self) -> Mapping[str, str]:
        if self.device is None:
            return {"device": "not compiled"}
        return {"device": str(self.device)}


def _takes(user: ExecutableGraph, maker: ExecutableGraph) -> bool:
    made = {result for step in maker.steps for result in step.results}
    return any(source in made for step in user.steps for source in step.sources)


def _nan(tensor: Tensor) -> int:
    """How many of its values are NaN."""
    return int(np.isnan(np.asarray(tensor._held)).sum()) if tensor.data_type in FLOATS else 0


class InferenceGraph(ExecutableGraph):
    """A graph to compute results with; dropout is off, and batch normalisation uses its running figures."""


class TrainingGraph(ExecutableGraph):
    """A graph that learns: forward, loss, gradients, update.

    With a loss layer, the graph's last result is compared with the labels named in add_inputs. Without one,
    the loss layers of the graph are taken, and their sum is made small. An optimizer may be compiled in
    later.
    """

    def __init__(
        self, graphs: Iterable[Graph], loss_layer: Loss | None = None, optimizer: Optimizer | None = None
    ) -> None:
        super().__init__(graphs)
        self.optimizer = optimizer
        self._loss_layer = loss_layer
        self._parameters: list[Tensor] = []
        self._labels: list[Tensor] = []
        self._updates = 0
        self._forward_count: int | None = None

    def add_inputs(
        self, inputs: Named, loss_labels: Named | None = None, loss_label_weights: Named | None = None
    ) -> bool:
        """As of any graph; and the labels, and a weight for each loss if wanted, to which the loss layer is
        joined.

        Raises:
            GraphError: also where predictions and labels do not fit.
        """
        super().add_inputs(inputs, loss_labels, loss_label_weights)
        labels = [*(loss_labels or {}).values()]
        if self._loss_layer is not None and labels:
            ends = self.ends()
            if len(ends) != 1:
                found = " and ".join(map(str, ends))
                raise GraphError(
                    f"The loss layer takes the graph's one last result, and there are {found}: add loss "
                    "layers to the graph with add_layer instead."
                )
            weights = [*(loss_label_weights or {}).values()]
            self.add_layer(self._loss_layer, [ends[0], *labels, *weights])
            self._loss_layer = None
        return True

    @property
    def loss(self) -> Tensor:
        """The last loss layer's result."""
        losses = self._losses()
        if not losses:
            raise GraphError("This graph has no loss: give it a loss layer, and labels in add_inputs.")
        return losses[-1]

    def stop_gradient_for_tensors(self, tensors: Sequence[Tensor]) -> bool:
        """No gradient goes through these: what lies before them learns nothing from what comes after."""
        self._stopped |= set(tensors)
        self._program = self._executable = None
        return True

    def set_training_tensor_parameters(self, parameters: Sequence[Any]) -> bool:
        """Tensors outside of layers that the optimizer updates, too; see tensor_parameter."""
        self._parameters += [parameter.tensor for parameter in parameters]
        self._program = self._executable = None
        return True

    def compile_optimizer(self, optimizer: Optimizer) -> bool:
        """Take this optimizer from now on; its state begins anew."""
        self.optimizer, self._updates = optimizer, 0
        if self.device is not None and self._executable is not None:
            self.compile(self.device)
        return True

    def _finish_building(self) -> None:
        if self._loss_layer is not None:
            raise GraphError("The loss layer has no labels: name them in add_inputs(..., loss_labels={...}).")

    def _losses(self) -> tuple[Tensor, ...]:
        return tuple(result for step in self.steps if isinstance(step.layer, Loss) for result in step.results)

    def _trained(self) -> tuple[Tensor, ...]:
        of_layers = [one for step in self.steps if step.updates for one in step.layer.parameters]
        return tuple(dict.fromkeys([*of_layers, *self._parameters]))

    @property
    def parameters(self) -> tuple[Tensor, ...]:
        """The tensors that the optimizer updates; `.numpy()` and `.gradient` read them."""
        return self._trained()

    def execute(  # type: ignore[override]
        self,
        inputs_data: Data,
        loss_labels_data: Data | None = None,
        loss_label_weights_data: Data | None = None,
        batch_size: int = 0,
        execution_options: str | Iterable[str] = (),
        completion_handler: CompletionHandler | None = None,
    ) -> bool:
        """One step of training: forward, gradients and update at once. See InferenceGraph.execute for the
        arguments.

        With the option `forward_for_inference`, the forward pass alone, as inference does it.
        """
        data = {**inputs_data, **(loss_labels_data or {}), **(loss_label_weights_data or {})}
        feeds = self._feeds(data, batch_size, "execute")
        chosen = options("MLCExecutionOptions", execution_options, "execute")
        if "ForwardForInference" in chosen:
            return self._execute(feeds, False, chosen, completion_handler)
        if "PerLayerProfiling" in chosen:
            self._execute(feeds, True, "PerLayerProfiling", None)
        executable, program = self._ready("execute")
        optimizer = self._optimizer()
        if not program.losses:
            raise GraphError(
                "execute of a training graph needs a loss; use execute_forward for a linked part of it."
            )

        def work() -> None:
            time = self._updates + 1
            results, gradients = executable.step(feeds, self._count, optimizer.learning_rate, time)
            self._hold(results)
            self._gradients = dict(zip(program.trained, gradients, strict=True))
            for tensor, gradient in self._gradients.items():
                tensor._gradient = gradient
            self._updates = time

        return self._run(work, chosen, completion_handler)

    def bind_and_write_data(self, data: Data, batch_size: int = 0) -> bool:
        """The data, labels included, for `execute_forward` and `execute_gradient`."""
        self._bound = (self._feeds(data, batch_size, "bind_and_write_data"), batch_size)
        return True

    def execute_forward(
        self,
        batch_size: int = 0,
        execution_options: str | Iterable[str] = (),
        completion_handler: CompletionHandler | None = None,
    ) -> bool:
        """The forward pass, with dropout on, from the data that was bound."""
        self._ready("execute_forward")
        if self._bound is None or self._makers:
            # What a linked graph has made is there already.
            missing = [tensor for tensor in self._inputs.values() if not tensor.has_values]
            if missing:
                raise GraphError(
                    f"execute_forward needs data for {missing[0]}: call bind_and_write_data first."
                )
            held = {name: np.asarray(tensor._held) for name, tensor in self._inputs.items()}
            self._bound = (self._feeds(held, batch_size, "execute_forward"), batch_size)
        feeds, bound = self._bound
        if batch_size != bound:
            raise GraphError(
                f"execute_forward has a batch_size of {batch_size}, and data was bound for {bound}."
            )
        self._forward_count = self._count
        chosen = options("MLCExecutionOptions", execution_options, "execute_forward")
        return self._execute(feeds, "ForwardForInference" not in chosen, chosen, completion_handler)

    def execute_gradient(
        self,
        batch_size: int = 0,
        execution_options: str | Iterable[str] = (),
        completion_handler: CompletionHandler | None = None,
    ) -> bool:
        """The gradients of all tensors, after execute_forward; of linked graphs, the last one comes first.

        The engines repeat the forward pass for it, with the same random numbers.
        """
        executable, program = self._ready("execute_gradient")
        if self._forward_count is None or self._bound is None:
            raise GraphError(
                "execute_gradient comes after execute_forward, which computes what it starts from."
            )
        feeds, count = self._bound[0], self._forward_count
        upstream: dict[Tensor, Any] = {}
        for user in self._users:
            for tensor in program.results:
                if tensor in user._gradients:
                    one = np.asarray(user._gradients[tensor])
                    upstream[tensor] = upstream[tensor] + one if tensor in upstream else one
        if not program.losses and not upstream:
            raise GraphError(
                "execute_gradient needs a loss, or a linked graph whose gradients are there already."
            )

        def work() -> None:
            self._gradients = executable.gradient(feeds, count, upstream)
            for tensor, gradient in self._gradients.items():
                tensor._gradient = gradient

        chosen = options("MLCExecutionOptions", execution_options, "execute_gradient")
        return self._run(work, chosen, completion_handler)

    def execute_optimizer_update(
        self, execution_options: str | Iterable[str] = (), completion_handler: CompletionHandler | None = None
    ) -> bool:
        """Update the parameters by the gradients of execute_gradient."""
        executable, program = self._ready("execute_optimizer_update")
        optimizer = self._optimizer()
        if not set(program.trained) <= self._gradients.keys():
            raise GraphError(
                "execute_optimizer_update comes after execute_gradient, which computes the gradients."
            )

        def work() -> None:
            self._updates += 1
            gradients = [self._gradients[tensor] for tensor in program.trained]
            executable.update(gradients, optimizer.learning_rate, self._updates)

        chosen = options("MLCExecutionOptions", execution_options, "execute_optimizer_update")
        return self._run(work, chosen, completion_handler)

    def _optimizer(self) -> Optimizer:
        if self.optimizer is None:
            raise GraphError("There is no optimizer: give the training graph one, or call compile_optimizer.")
        return self.optimizer
