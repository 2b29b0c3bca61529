"""The forms in which results are shown: lines, tables, trees, data frames, values as JSON, and HTML pages. Nothing here prints."""
