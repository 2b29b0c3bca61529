"""Representations on an index: fitted models, and the rows that they give to documents.

Data come from the index's segments, through the corpus view, and from plugins, through the contracts of
`sublex.contracts.fitted`. `fitting` fits a model and encodes documents, `segment_rows` keeps rows up to date when documents are
added or segments merged, `model_store` and `rows` read and write the files below `representations/`. A pipeline gets a model
and its rows as a `loaded.LoadedRepresentation`, which scores and explains documents. The algorithms themselves are in plugins
and in `sublex.estimators`.
"""
