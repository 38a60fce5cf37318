"""`predict`: a prediction that is written down first and compared with the result later."""

from __future__ import annotations

import math

from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.teach.lessons import questions

#: A smaller ratio between prediction and result counts as agreement: two runs of a cell differ as much.
AGREES = 1.05


class Prediction:
    """A learner's prediction.

    `compare` shows it with the result, `judge` compares predicted seconds with a receipt.
    """

    def __init__(self, question: str, guess: object) -> None:
        self.question = question
        self.guess = None if guess is ... else guess

    def compare(self, actual: object) -> None:
        """Print the question, the prediction and the result. There is no right or wrong."""
        print(translate(questions.question(self.question)))
        if self.guess is None:
            sentence = say("It was {actual}. You wrote no prediction this time.", actual=str(actual))
        elif _same(self.guess, actual):
            sentence = say("You predicted {guess}, and so it was.", guess=str(self.guess))
        else:
            sentence = _deviation(self.guess, actual)
        print(translate(sentence))

    def judge(self, record: Record) -> None:
        """Print how many times too low or too high predicted seconds were, and what limited the cell.

        `record` is that of a run with `--ops --shapes`. The seconds are those of the light runs from which
        its rates are computed. A missing measurement is reported and is no error.
        """
        print(translate(questions.question(self.question)))
        seconds = _light_seconds(record)
        if seconds is None:
            sentences = [_why_not(record, "flop_rate", "flops")]
        else:
            sentences = [self._comparison(seconds), _under_the_roof(record, seconds)]
        limit = record.limit.said if record.limit is not None else record.why_no_limit
        print(*(translate(one) for one in (*sentences, limit) if one is not None), sep="\n")

    def _comparison(self, seconds: float) -> Sentence:
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
    """Return the median seconds of the light runs, computed as FLOP or bytes divided by their rate."""
    for amount, rate in (("flops", "flop_rate"), ("bytes_of_large_calls", "byte_rate")):
        over, under = (record.find(one) for one in (amount, rate))
        if over is not None and under is not None and over.value and under.value:
            return over.value / under.value
    return None


def _under_the_roof(record: Record, seconds: float) -> Sentence:
    """Return a sentence with the seconds that the roof allows, from the larger of its two shares."""
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
    reasons = (one.why_missing for one in record.readings if one.quantity in quantities and one.why_missing)
    return next(reasons, say("No operations were counted: run the cell with `%%mlc_trace --ops --shapes`."))


def _positive(guess: object) -> float | None:
    try:
        value = float(guess)  # type: ignore[arg-type]
    except Exception:  # a text, or an array of several numbers
        return None
    return value if math.isfinite(value) and value > 0 else None


def _deviation(guess: object, actual: object) -> Sentence:
    """Return a sentence on how far the prediction was off, as a ratio if both are numbers above 0."""
    one, other = _positive(guess), _positive(actual)
    values = {"guess": str(guess), "actual": str(actual)}
    if one is None or other is None or isinstance(guess, str):
        return say("You predicted {guess}; it was {actual}. What follows explains why.", **values)
    ratio, times = _times(one, other)
    if ratio < AGREES:
        return say("You predicted {guess}; it was {actual}: less than 5 % off.", **values)
    if one < other:
        return say("You predicted {guess}; it was {actual}: {times} times too low.", **values, times=times)
    return say("You predicted {guess}; it was {actual}: {times} times too high.", **values, times=times)


def _times(guess: float, actual: float) -> tuple[float, str]:
    ratio = max(guess / actual, actual / guess)
    return ratio, f"{ratio:.2g}" if ratio < 99.5 else f"{ratio:,.0f}"


def _same(guess: object, actual: object) -> bool:
    try:
        return bool(guess == actual)
    except Exception:  # the == of two arrays, for example, gives no single answer
        return False


def predict(question: str, guess: object) -> Prediction:
    """Return a prediction and print it; three dots or None mean that there is none yet."""
    prediction = Prediction(question, guess)
    print(translate(questions.question(question)))
    if prediction.guess is None:
        sentence = say("No prediction yet: write yours in place of the three dots, and run this cell again.")
    else:
        sentence = say(
            "Your prediction: {guess}. It is compared with the result further down.",
            guess=str(prediction.guess),
        )
    print(translate(sentence))
    return prediction
