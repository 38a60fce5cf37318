"""Who runs a cell again, as the receipt says, and sees it compile again is told why."""

from msgspec.structs import replace

from jupyter_mlgpu.explain.limits.remedies import COMPILES_EACH_TIME
from jupyter_mlgpu.explain.limits.stage import with_lasting_advice
from jupyter_mlgpu.record.limit import Limit
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.testing import example_record

FIRST = Sentence("Run it again: what was compiled is kept.")


def run(sequence, kind="compiling", *evidence):
    limit = Limit(kind, "sure", Sentence("Compiling."), 0.9, evidence, FIRST)
    record = example_record()
    return replace(record, cell=replace(record.cell, sequence=sequence), limit=limit)


def advice(record, *runs):
    return with_lasting_advice(record, runs).limit.next


def test_the_first_run_is_told_to_run_again():
    assert advice(run(3)) == FIRST
    assert advice(run(3), run(3)) == FIRST  # its own record, judged again


def test_a_run_that_compiles_what_an_earlier_one_compiled_is_told_why():
    assert advice(run(3), run(1)) == COMPILES_EACH_TIME
    assert advice(run(5), run(1, "python"), run(3)) == COMPILES_EACH_TIME


def test_other_causes_keep_their_advice():
    assert advice(run(3), run(1, "waiting")) == FIRST
    assert advice(run(3, "waiting"), run(1)) == FIRST
    importing = Reading("importing_share", 0.9, "", "process", "samples", 20)
    assert advice(run(3, "compiling", importing), run(1)) == FIRST
    assert advice(run(3), run(1, "compiling", importing)) == FIRST


def test_a_record_without_an_answer_stays_as_it_is():
    record = replace(example_record(), limit=None)
    assert with_lasting_advice(record, [run(1)]) is record
