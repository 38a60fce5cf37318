"""`predict`: a guess written down before the answer is known, and shown beside it afterwards."""

from __future__ import annotations

import math

from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.teach.lessons import questions

#: A guess that is off by less agrees with what came: two runs of a cell differ by as much.
AGREES = 1.05


class Prediction:
    """A learner's guess; `compare` shows it beside what came, `judge` a guess of seconds beside a receipt."""

    def __init__(self, question: str, guess: object) -> None:
        self.question = question
        self.guess = None if guess is ... else guess

    def compare(self, actual: object) -> None:
        """Print the question, the guess and what came. There is no right or wrong in it: one looks twice."""
        print(translate(questions.question(self.question)))
        if self.guess is None:
            told = say("It was {actual}. You wrote no prediction this time.", actual=str(actual))
        elif _same(self.guess, actual):
            told = say("You predicted {guess}, and so it was.", guess=str(self.guess))
        else:
            told = _apart(self.guess, actual)
        print(translate(told))

    def judge(self, record: Record) -> None:
        """Print how many times too low or too high a guess of seconds was, and what the receipt says of it.

        `record` is that of a run with `--ops --shapes`. The seconds are those of light runs, from which its
        rates are; what was not measured is said, and is no error.
        """
        print(translate(questions.question(self.question)))
        seconds = _light_seconds(record)
        if seconds is None:
            told = [_why_not(record, "flop_rate", "flops")]
        else:
            told = [self._beside(seconds), _under_the_roof(record, seconds)]
        limit = record.limit.said if record.limit is not None else record.why_no_limit
        print(*(translate(one) for one in (*told, limit) if one is not None), sep="\n")

    def _beside(self, seconds: float) -> Sentence:
        actual = units.seconds(seconds)
        if self.guess is None:
            return say("The light runs took {actual}. You wrote no prediction this time.", actual=actual)
        guess = _positive(self.guess)
        if guess is None:
            return say(
                "The light runs took {actual}. Your prediction, {guess}, is not a number of seconds above 0.",
                actual=actual,
                guess=str(self.guess),
            )
        ratio, times = _times(guess, seconds)
        predicted = units.seconds(guess)
        if ratio < AGREES:
            return say(
                "You predicted {guess}; the light runs took {actual}: less than 5 % off.",
                guess=predicted,
                actual=actual,
            )
        if guess < seconds:
            return say(
                "You predicted {guess}; the light runs took {actual}: {times} times too low.",
                guess=predicted,
                actual=actual,
                times=times,
            )
        return say(
            "You predicted {guess}; the light runs took {actual}: {times} times too high.",
            guess=predicted,
            actual=actual,
            times=times,
        )


def _light_seconds(record: Record) -> float | None:
    """What FLOP, or bytes, over their rate come to: the median of the light runs."""
    for amount, rate in (("flops", "flop_rate"), ("bytes_of_large_calls", "byte_rate")):
        over, under = (record.find(one) for one in (amount, rate))
        if over is not None and under is not None and over.value and under.value:
            return over.value / under.value
    return None


def _under_the_roof(record: Record, seconds: float) -> Sentence:
    """The seconds that the receipt's roof allows, from the larger of its two shares."""
    shares = [one.value for one in record.readings if one.quantity in ("flop_share", "byte_share")]
    share = max((one for one in shares if one is not None), default=None)
    if share is None:
        return _why_not(record, "flop_share", "byte_share")
    return say(
        "The roof in the receipt allows {least}; the cell reached {share} of the roof.",
        least=units.seconds(seconds * share),
        share=f"{share * 100:.0f} %" if share >= 0.005 else say("under 1 %"),
    )


def _why_not(record: Record, *quantities: str) -> Sentence:
    told = (one.why_missing for one in record.readings if one.quantity in quantities and one.why_missing)
    return next(told, say("No operations were counted: run the cell with `%%mlc_trace --ops --shapes`."))


def _positive(guess: object) -> float | None:
    try:
        value = float(guess)  # type: ignore[arg-type]
    except Exception:  # words, or an array of several numbers
        return None
    return value if math.isfinite(value) and value > 0 else None


def _apart(guess: object, actual: object) -> Sentence:
    """How far a guess was off: as a ratio, where both are numbers above 0."""
    one, other = _positive(guess), _positive(actual)
    told = {"guess": str(guess), "actual": str(actual)}
    if one is None or other is None or isinstance(guess, str):
        return say("You predicted {guess}; it was {actual}. What follows explains why.", **told)
    ratio, times = _times(one, other)
    if ratio < AGREES:
        return say("You predicted {guess}; it was {actual}: less than 5 % off.", **told)
    if one < other:
        return say("You predicted {guess}; it was {actual}: {times} times too low.", **told, times=times)
    return say("You predicted {guess}; it was {actual}: {times} times too high.", **told, times=times)


def _times(guess: float, actual: float) -> tuple[float, str]:
    ratio = max(guess / actual, actual / guess)
    return ratio, f"{ratio:.2g}" if ratio < 99.5 else f"{ratio:,.0f}"


def _same(guess: object, actual: object) -> bool:
    try:
        return bool(guess == actual)
    except Exception:  # two arrays, for example: their == gives no single answer
        return False


def predict(question: str, guess: object) -> Prediction:
    """Write a prediction down; three dots or None stand for one that is not made yet."""
    prediction = Prediction(question, guess)
    print(translate(questions.question(question)))
    if prediction.guess is None:
        told = say("No prediction yet: write yours in place of the three dots, and run this cell again.")
    else:
        told = say(
            "Your prediction: {guess}. It is compared with the result further down.",
            guess=str(prediction.guess),
        )
    print(translate(told))
    return prediction
