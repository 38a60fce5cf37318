"""What a person sees: receipts, pages, tables, charts, exports."""
