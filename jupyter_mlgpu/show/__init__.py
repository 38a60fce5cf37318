"""Rendering of results for people: receipts, pages, tables, charts and exports."""
