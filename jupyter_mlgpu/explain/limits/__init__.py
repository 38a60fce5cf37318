"""What limited a cell: how its time was spent (`shares`), how sure that is (`judge`), and in `words`."""
