"""The questions that lessons ask with `predict`, in one place for the translation.

The code of a lesson is not translated.
"""

from __future__ import annotations

from jupyter_mlgpu.record.sentence import say

_QUESTIONS = (
    say("How many milliseconds of CPU time does a second of sleep take?"),
    say("How many operations will one run of the graph count?"),
    say("How many µs does a [1, 100] times [100, 1] product take here, in all?"),
    say("How many of the nine recorded lines call for action?"),
    say("Which type of numbers gives the highest rate?"),
    say("How many seconds will a run of the network take?"),
    say("With one row: how many times as fast as with 512 is a run?"),
    say("How many operations will the receipt of the graph count?"),
    say("Both passes: how many times as many multiplications as the forward pass alone?"),
    say("How many parameters does the dense layer have?"),
    say("How many times as high is the peak with 256 pictures as with 64?"),
    say("At what percentage of the step's time is most memory in use?"),
    say("How many times as many images a second does the largest batch train as the smallest?"),
    say("How many of the 3,000 pieces make up half of the text?"),
    say("Twice as many words: how many times as long does attention take?"),
    say("Of 100 chosen tokens, how many will the trained model guess right?"),
    say("With 196 labels, which of the three is best?"),
    say("With a batch of 16: how many times as fast as one engine are two?"),
    say("At 512 tokens, how many times as fast is a token with the cache?"),
    say("How many tokens a second will the large GPT write?"),
    say("What is the loss if every place is said to be 0?"),
    say("A stride of 32: how many times as many bytes are moved?"),
    say("Every 8th number: how many percent of the time of all additions?"),
    say("Without the second barrier: how many of the 1,024 numbers will be wrong?"),
    say("How many milliseconds does a step take if one thread loads ahead?"),
    say("Two threads instead of one: how many times as fast is a loop in Python?"),
    say("With 8 billion weights in int4: how many tokens a second at best?"),
    say("A matrix in int8 times a vector, in NumPy: how many times as fast as in float32?"),
    say("LoRA trains 3 weights of 100: what percentage of the gain from training all weights does it reach?"),
    say("One weight of 4,096 is set to 100: how many times as large is the error of the others?"),
    say("How many checks of the doctor will find something wrong on your machine?"),
)
QUESTIONS = {str(one): one for one in _QUESTIONS}


def question(text: str) -> str:
    """Return the question as a translatable sentence if it is one of the lessons'."""
    return QUESTIONS.get(text, text)
