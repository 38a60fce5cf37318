"""`%mlgpu`: lists all magics of the extension, each with an example."""

from __future__ import annotations

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.option_parser import unknown
from jupyter_mlgpu.record.sentence import Sentence, below, joined, say

#: Line to type and what it does. The everyday ones come first.
_EVERY_DAY = {
    "%mlc_device gpu": say("run cells on the GPU or another device"),
    "%mlc_trace why": say("what the last cell spent its time on; also receipts, logs, comparisons, saving"),
}
_MORE = {
    "%%mlc_race --over n=1e2,1e4": say("run a cell on each device and see which is faster at what size"),
    "%mlc_bench --quick": say("how fast this machine computes, compared with published figures"),
    "%mlc_plan model x": say("where each operation of a model would run, without running it"),
    "%mlc_doctor": say("what is wrong with this machine's setup, and what to do about it"),
    "%mlc_share show": say("what a class's teachers would see of your cells if you shared them"),
}


def overview(words: str) -> Sentence:
    """Run `%mlgpu`; return the text to print. Raises UsageError for words after it, because it takes none."""
    if words:
        known = [one.partition(" ")[0] for one in (*_EVERY_DAY, *_MORE)]
        raise UsageError(
            joined(
                unknown(say("word"), words.partition(" ")[0], known, "%mlgpu"),
                say("`%mlgpu` alone lists all magics, each with an example."),
            )
        )
    width = max(map(len, (*_EVERY_DAY, *_MORE)))
    lines = {
        group: [say("  {typed}  {does}", typed=f"{one:{width}}", does=does) for one, does in magics.items()]
        for group, magics in (("every day", _EVERY_DAY), ("more", _MORE))
    }
    return below(
        say("Every day:"),
        *lines["every day"],
        say("More:"),
        *lines["more"],
        say("Add a question mark to a magic's name, as in `%mlc_trace?`, to see everything it can do."),
    )
