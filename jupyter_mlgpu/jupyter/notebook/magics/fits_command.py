"""`%mlc_trace fits 256 32=5 64=6`: forecasts the memory of a batch size."""

from __future__ import annotations

import re

from jupyter_mlgpu.explain.batches import fits
from jupyter_mlgpu.record.cellnumbers import CellNumber, cell_number
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.option_parser import magic_parser
from jupyter_mlgpu.record.sentence import Sentence, joined, say

_HELP = say(
    "`%mlc_trace fits 256 32=5 64=6` asks about batch size 256, where cell [5] ran batch "
    "size 32 and cell [6] batch size 64; `--limit 8GiB` sets the available memory."
)
_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([kmgt]?)(i?)b", re.ASCII | re.IGNORECASE)


def fits_command(line: str) -> Sentence:
    """Run `%mlc_trace fits LINE`; return the text to print."""
    parser = magic_parser("%mlc_trace fits", _HELP)
    parser.add_argument("sizes", nargs="*")
    parser.add_argument("--limit")
    arguments = parser.parse_line(line)
    limit = None if arguments.limit is None else size_in_bytes(arguments.limit)
    if not arguments.sizes:
        raise UsageError(joined(say("The batch size is missing."), _HELP))
    batch, *pairs = arguments.sizes
    measured: dict[int, CellNumber] = {}
    for pair in pairs:
        size, sign, cell = pair.partition("=")
        if not sign:
            raise UsageError(joined(say("{pair} is not of the form BATCH=CELL.", pair=repr(pair)), _HELP))
        if _batch(size) in measured:
            raise UsageError(
                say(
                    "Batch size {size} is given twice: a cell's number stands for all runs of its code.",
                    size=size,
                )
            )
        measured[_batch(size)] = cell_number(cell)
    return fits(_batch(batch), measured, limit).sentence


def size_in_bytes(word: str) -> float:
    """Return a size in bytes: `8GB` is 8,000,000,000, `8GiB` 8 * 1024**3. Raises UsageError otherwise."""
    match = _SIZE.fullmatch(word)
    if match is None:
        raise UsageError(
            say("A size is a number with a unit, such as 8GiB or 8GB; found {found}.", found=repr(word))
        )
    number, unit, binary = match.groups()
    return float(number) * float((1024 if binary else 1000) ** _UNITS[unit.lower()])


def _batch(word: str) -> int:
    if not (word.isdecimal() and word.isascii()):
        raise UsageError(
            joined(say("A batch size is a whole number, found {found}.", found=repr(word)), _HELP)
        )
    return int(word)
