"""Receipts are left out when nbval compares outputs with the saved ones: no two runs take equally long.

This is the one place that leaves anything out. An output goes, on both sides, if it carries a receipt's
MIME type; what a cell prints, returns or draws besides is compared as it stands.
"""

from nbval.plugin import IPyNbCell

from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE


def pytest_itemcollected(item):
    """Called by pytest for every test in this folder: here, for every cell."""
    if isinstance(item, IPyNbCell):
        compare = item.compare_outputs

        def compare_without_receipts(test, ref, skip_compare=None):
            return compare(without_receipts(test), without_receipts(ref), skip_compare)

        item.compare_outputs = compare_without_receipts


def without_receipts(outputs):
    """The outputs of a cell that are not ours."""
    return [output for output in outputs if MIME_TYPE not in output.get("data", {})]
