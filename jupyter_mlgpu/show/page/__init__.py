"""What readers are shown: pages of sentences, tables and charts as plain data, and a renderer for each form.

`model` and `chart` hold the data; `text`, `html`, `svg` and `plotly` render it; `shown` gives a result the
methods that IPython asks for. Nothing here knows what is measured: results make their pages themselves.
"""
