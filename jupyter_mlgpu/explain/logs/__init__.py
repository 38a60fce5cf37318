"""Native log lines: captured (tap), read (parse), explained (catalogue), given to their cell (capture)."""
