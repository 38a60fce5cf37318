"""Judge what limited a cell: `shares` divides its time by cause, `judge` picks the limit."""
