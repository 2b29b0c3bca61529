"""Representations on an index: fitted models, and the rows that they give to documents.

The segments of the index give the data, and plugins the models, by the contracts of `sublex.contracts.fitted`.
`fitting` fits a model and encodes documents. `segment_rows` keeps rows up to date when documents are added or segments
are merged. `model_store` and `rows` read and write the files below `representations/`. A pipeline gets a model and its
rows as a `loaded.LoadedRepresentation`, which scores and explains documents. The algorithms themselves are in plugins
and in `sublex.estimators`.
"""
