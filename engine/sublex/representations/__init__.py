"""LoadedRepresentation indexes: fitted models, the rows that they give documents, and how both are kept, published and read."""
