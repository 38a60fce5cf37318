"""Graphs that learn: forward, loss, gradients, update, in one call or one after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jupyter_mlgpu.graphs.mlcompute.engine import Values
from jupyter_mlgpu.graphs.mlcompute.execution import Data, ExecutableGraph, Handler, Named, Words
from jupyter_mlgpu.graphs.mlcompute.layers.losses import Loss
from jupyter_mlgpu.graphs.mlcompute.names import insist, options
from jupyter_mlgpu.graphs.mlcompute.optimizers import Optimizer
from jupyter_mlgpu.graphs.mlcompute.structure import Graph, Program
from jupyter_mlgpu.graphs.mlcompute.tensors import Array, Tensor, TensorParameter
from jupyter_mlgpu.record.errors import GraphError


class TrainingGraph(ExecutableGraph):
    """A graph that learns.

    With a loss layer, the graph's last result is compared with the labels named in add_inputs. Without one,
    the sum of the loss layers in the graph is minimized. An optimizer may be added later by
    compile_optimizer.
    """

    def __init__(
        self, graphs: Iterable[Graph], loss_layer: Loss | None = None, optimizer: Optimizer | None = None
    ) -> None:
        super().__init__(graphs)
        self.optimizer = optimizer
        self._loss_layer = loss_layer
        self._loose: list[Tensor] = []
        self._updates = 0
        self._bound: tuple[list[Array], int] | None = None
        self._forward_count: int | None = None

    def add_inputs(
        self, inputs: Named, loss_labels: Named | None = None, loss_label_weights: Named | None = None
    ) -> bool:
        """Name the inputs, and the labels and optional weights that the loss layer takes.

        Raises:
            GraphError: also if predictions and labels do not fit.
        """
        super().add_inputs(inputs, loss_labels, loss_label_weights)
        if self._loss_layer is not None and loss_labels:
            ends = self.ends()
            found = " and ".join(map(str, ends))
            found = f"The loss layer takes the graph's one last result, and there are {found}"
            insist(len(ends) == 1, f"{found}: add loss layers to the graph with add_layer instead.")
            more = [*loss_labels.values(), *(loss_label_weights or {}).values()]
            self.add_layer(self._loss_layer, [ends[0], *more])
            self._loss_layer = None
        return True

    @property
    def loss(self) -> Tensor:
        """The last loss layer's result."""
        insist(self._losses(), "This graph has no loss: give it a loss layer, and labels in add_inputs.")
        return self._losses()[-1]

    @property
    def parameters(self) -> tuple[Tensor, ...]:
        """The tensors that the optimizer updates; `.numpy()` and `.gradient` read them."""
        of_layers = [one for step in self.steps if step.updates for one in step.layer.parameters]
        return tuple(dict.fromkeys([*of_layers, *self._loose]))

    def stop_gradient_for_tensors(self, tensors: Sequence[Tensor]) -> bool:
        """Stop gradients at these tensors: what comes before them is not trained by what comes after."""
        self._stopped |= set(tensors)
        self._compiled = None
        return True

    def set_training_tensor_parameters(self, parameters: Sequence[TensorParameter]) -> bool:
        """Add tensors outside of layers that the optimizer updates, too; see tensor_parameter."""
        self._loose += [parameter.tensor for parameter in parameters]
        self._compiled = None
        return True

    def compile_optimizer(self, optimizer: Optimizer) -> bool:
        """Use this optimizer from now on; its state begins anew."""
        self.optimizer, self._updates = optimizer, 0
        return self.compile(self.device) if self.device is not None and self._compiled else True

    def _losses(self) -> tuple[Tensor, ...]:
        return tuple(result for step in self.steps if isinstance(step.layer, Loss) for result in step.results)

    def _program(self) -> Program:
        nothing = "The loss layer has no labels: name them in add_inputs(..., loss_labels={...})."
        insist(self._loss_layer is None, nothing)
        return super()._program()

    def execute(  # type: ignore[override]
        self,
        inputs_data: Data,
        loss_labels_data: Data | None = None,
        loss_label_weights_data: Data | None = None,
        batch_size: int = 0,
        execution_options: Words = (),
        completion_handler: Handler = None,
    ) -> bool:
        """Run one step of training: forward, gradients and update.

        InferenceGraph.execute describes the arguments. With the option `forward_for_inference`, only the
        forward pass is run, as in inference.
        """
        data = {**inputs_data, **(loss_labels_data or {}), **(loss_label_weights_data or {})}
        feeds = self._feeds(data, batch_size, "execute")
        chosen = options("MLCExecutionOptions", execution_options, "execute")
        if "ForwardForInference" in chosen:
            return self._forward(feeds, False, chosen, completion_handler)
        executable, (_, program) = self._profiled(feeds, True, chosen), self._ready("execute")
        wrong = "execute of a training graph needs a loss; use execute_forward for a linked part of it."
        insist(program.losses, wrong)
        clock = self._clock()
        return self._run(lambda: executable.step(feeds, self._count, *clock), chosen, completion_handler)

    def bind_and_write_data(self, data: Data, batch_size: int = 0) -> bool:
        """Set the data, including labels, for `execute_forward` and `execute_gradient`."""
        self._bound = self._feeds(data, batch_size, "bind_and_write_data"), batch_size
        return True

    def execute_forward(
        self, batch_size: int = 0, execution_options: Words = (), completion_handler: Handler = None
    ) -> bool:
        """Run the forward pass, with dropout, on the bound data and on the results of linked graphs."""
        _, program = self._ready("execute_forward")
        for tensor in program.inputs:
            bound = tensor.has_values and (self._bound is not None or tensor.step is not None)
            insist(bound, f"execute_forward needs data for {tensor}: call bind_and_write_data first.")
        feeds = [tensor._value for tensor in program.inputs]
        size = batch_size if self._bound is None else self._bound[1]
        wrong = f"execute_forward has a batch_size of {batch_size}, and data was bound for {size}."
        insist(batch_size == size, wrong)
        self._bound, self._forward_count = (feeds, size), self._count
        chosen = options("MLCExecutionOptions", execution_options, "execute_forward")
        return self._forward(feeds, "ForwardForInference" not in chosen, chosen, completion_handler)

    def execute_gradient(
        self, batch_size: int = 0, execution_options: Words = (), completion_handler: Handler = None
    ) -> bool:
        """Compute the gradients of all tensors, after execute_forward.

        Of linked graphs, the last one comes first. The engines repeat the forward pass, with the same random
        numbers.
        """
        executable, program = self._ready("execute_gradient")
        wrong = "execute_gradient comes after execute_forward, which computes what it starts from."
        if self._bound is None or self._forward_count is None:
            raise GraphError(wrong)
        (feeds, _), count = self._bound, self._forward_count
        upstream: dict[Tensor, Any] = {}
        for user in self._users:
            for tensor in self._made() & user._gradients.keys():
                upstream[tensor] = np.asarray(user._gradients[tensor]) + upstream.get(tensor, 0)
        wrong = "execute_gradient needs a loss, or a linked graph whose gradients are there already."
        insist(program.losses or upstream, wrong)

        def work() -> tuple[Values, Values]:
            return {}, executable.gradient(feeds, count, upstream)

        return self._run(work, execution_options, completion_handler)

    def execute_optimizer_update(
        self, execution_options: Words = (), completion_handler: Handler = None
    ) -> bool:
        """Update the parameters by the gradients of execute_gradient."""
        executable, program = self._ready("execute_optimizer_update")
        wrong = "execute_optimizer_update comes after execute_gradient, which computes the gradients."
        insist(self._gradients.keys() >= set(program.trained), wrong)
        clock = self._clock()

        def work() -> tuple[Values, Values]:
            executable.update(self._gradients, *clock)
            return {}, {}

        return self._run(work, execution_options, completion_handler)

    def _clock(self) -> tuple[float, int]:
        """Return the learning rate, and the number of the next update."""
        if self.optimizer is None:
            raise GraphError("There is no optimizer: give the training graph one, or call compile_optimizer.")
        self._updates += 1
        return self.optimizer.learning_rate, self._updates
