"""What TensorFlow collects reaches the user as without us, whoever asks and when; TensorFlow faked."""

from __future__ import annotations

import pytest

from jupyter_mlgpu.measure.frameworks.tensorflow.collection import SharedCollection


class Metadata:
    """As much of TensorFlow's RunMetadata as is asked for."""

    def __init__(self, *graphs: str) -> None:
        self.function_graphs = list(graphs)

    def ByteSize(self) -> int:  # noqa: N802 - protobuf's name
        return len(self.function_graphs)

    def MergeFrom(self, other: Metadata) -> None:  # noqa: N802
        self.function_graphs += other.function_graphs


class Context:
    """TensorFlow's context: one switch and one store, as version 2.19.1 has them."""

    def __init__(self) -> None:
        self._context_handle = object()
        self.on = False
        self.store = Metadata()
        self.left: list[str] = []  # by calls that failed, until the next operation

    def prepare(self, graph: str) -> None:
        self.fail(graph)
        self.run_nothing()

    def fail(self, graph: str) -> None:
        if self.on:
            self.left.append(graph)

    def run_nothing(self) -> None:
        if self.on:
            self.store.function_graphs += self.left
            self.left.clear()

    def enable_graph_collection(self) -> None:
        self.on = True

    def enable_run_metadata(self) -> None:
        self.on = True

    def disable_run_metadata(self) -> None:
        self.on = True  # indeed

    def disable_graph_collection(self) -> None:
        self.on, self.store = False, Metadata()

    def export_run_metadata(self) -> Metadata:
        found, self.store = self.store, Metadata()
        return found


def shared(context: Context | None = None) -> tuple[Context, SharedCollection]:
    context = context or Context()
    collection = SharedCollection(Context.run_nothing, lambda one: one.prepare("ours, to ask"))
    collection.share(context)
    return context, collection


def ours(context: Context, collection: SharedCollection, *graphs: str) -> list[str]:
    """What we learn in a call in which these are prepared."""
    who = object()
    collection.begin(who)
    for graph in graphs:
        context.prepare(graph)
    return collection.end(who)


def exported(context: Context) -> list[str]:
    return context.export_run_metadata().function_graphs


def test_what_we_collect_alone_is_not_the_users_and_nothing_stays_on():
    context, collection = shared()
    assert ours(context, collection, "step") == ["step"]
    context.prepare("later")
    assert exported(context) == []


@pytest.mark.parametrize("switch", ["enable_graph_collection", "enable_run_metadata", "disable_run_metadata"])
def test_what_a_user_collects_is_shared_and_all_of_it_reaches_them_in_order(switch):
    context, collection = shared()
    getattr(context, switch)()
    context.prepare("theirs")
    assert ours(context, collection, "step") == ["step"]
    context.prepare("more")
    assert ours(context, collection, "other") == ["other"]
    context.prepare("last")
    assert exported(context) == ["theirs", "step", "more", "other", "last"]
    assert exported(context) == []


def test_a_user_who_begins_while_we_collect_gets_what_comes_after():
    context, collection = shared()
    who = object()
    collection.begin(who)
    context.prepare("before")
    context.enable_graph_collection()
    context.prepare("after")
    assert collection.end(who) == ["before", "after"]
    assert exported(context) == ["after"]
    context.prepare("still on")
    assert exported(context) == ["still on"]


def test_a_user_who_ends_while_we_collect_throws_away_what_is_theirs_and_nothing_of_ours():
    context, collection = shared()
    context.enable_graph_collection()
    context.prepare("theirs")
    who = object()
    collection.begin(who)
    context.prepare("step")
    context.disable_graph_collection()
    context.prepare("ours alone")
    assert collection.end(who) == ["step", "ours alone"]
    assert (context.on, exported(context)) == (False, [])


def test_a_user_who_exports_while_we_collect_leaves_us_a_copy():
    context, collection = shared()
    context.enable_graph_collection()
    who = object()
    collection.begin(who)
    context.prepare("step")
    assert exported(context) == ["step"]
    assert collection.end(who) == ["step"]
    assert exported(context) == []


def test_a_user_who_exports_without_collecting_takes_nothing_from_us():
    context, collection = shared()
    who = object()
    collection.begin(who)
    context.prepare("step")
    assert exported(context) == []
    assert collection.end(who) == ["step"]


def test_calls_that_overlap_share_what_they_collect():
    context, collection = shared()
    first, second = object(), object()
    collection.begin(first)
    context.prepare("one")
    collection.begin(second)
    context.prepare("two")
    assert collection.end(first) == ["one", "two"]
    context.prepare("three")
    assert collection.end(second) == ["one", "two", "three"]
    assert ours(context, collection) == []
    assert not context.on


def test_a_user_who_collected_before_we_came_goes_on():
    before = Context()
    before.enable_graph_collection()
    before.prepare("early")
    context, collection = shared(before)
    assert ours(context, collection, "step") == ["step"]
    assert exported(context) == ["early", "step"]
    assert context.on


def test_a_user_who_switched_collection_on_before_we_came_and_has_nothing_yet_goes_on_too():
    before = Context()
    before.enable_graph_collection()
    context, collection = shared(before)
    assert ours(context, collection, "a") == ["a"]
    context.prepare("b")
    assert context.export_run_metadata().function_graphs == ["a", "b"]


def test_a_context_that_has_not_begun_is_not_begun_by_us():
    context = Context()
    context._context_handle = None
    asked = []
    SharedCollection(Context.run_nothing, asked.append).share(context)
    assert asked == []


def test_a_context_that_was_made_anew_is_shared_anew():
    context, collection = shared()
    context.enable_graph_collection()
    fresh = Context()
    collection.share(fresh)
    assert ours(fresh, collection, "step") == ["step"]
    assert (fresh.on, exported(fresh)) == (False, [])


def test_the_graph_of_a_call_that_failed_is_ours_and_is_not_left_to_a_user_who_collects_later():
    context, collection = shared()
    who = object()
    collection.begin(who)
    context.fail("step")
    assert collection.end(who, failed=True) == ["step"]
    context.enable_graph_collection()
    context.prepare("theirs")
    assert exported(context) == ["theirs"]


def test_the_graph_of_a_call_that_failed_reaches_a_user_who_collects_when_it_would_without_us():
    context, collection = shared()
    context.enable_graph_collection()
    who = object()
    collection.begin(who)
    context.fail("step")
    collection.end(who, failed=True)
    assert exported(context) == []
    context.run_nothing()
    assert exported(context) == ["step"]


def test_to_end_without_having_begun_changes_nothing():
    context, collection = shared()
    assert collection.end(object()) == []
    assert not context.on
