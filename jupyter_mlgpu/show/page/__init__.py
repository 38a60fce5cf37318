"""Pages of sentences, tables and charts as plain data, and a renderer for each output format.

`model` and `chart` hold the data. `text`, `html`, `svg` and `plotly` render it. `rendering` connects results
with their pages. Nothing here depends on what is measured: each kind of result has a module that makes its
page.
"""
