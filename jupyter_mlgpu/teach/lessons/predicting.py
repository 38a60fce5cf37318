"""`predict`: a guess written down before the answer is known, and shown beside it afterwards."""

from __future__ import annotations

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.speaking import said


class Prediction:
    """A learner's guess; `compare` shows it beside what came."""

    def __init__(self, question: str, guess: object) -> None:
        self.question = question
        self.guess = None if guess is ... else guess

    def compare(self, actual: object) -> None:
        """Print the question, the guess and what came. There is no right or wrong in it: one looks twice."""
        print(self.question)
        if self.guess is None:
            told = say("It was {actual}. You wrote no prediction this time.", actual=str(actual))
        elif _same(self.guess, actual):
            told = say("You predicted {guess}, and so it was.", guess=str(self.guess))
        else:
            told = say(
                "You predicted {guess}; it was {actual}. What follows says why.",
                guess=str(self.guess),
                actual=str(actual),
            )
        print(said(told))


def _same(guess: object, actual: object) -> bool:
    try:
        return bool(guess == actual)
    except Exception:  # two arrays, for example: their == gives no single answer
        return False


def predict(question: str, guess: object) -> Prediction:
    """Write a prediction down; three dots or None stand for one that is not made yet."""
    prediction = Prediction(question, guess)
    print(question)
    if prediction.guess is None:
        told = say("No prediction yet: write yours in place of the three dots, and run this cell again.")
    else:
        told = say("Your prediction: {guess}. It is compared further down.", guess=str(prediction.guess))
    print(said(told))
    return prediction
