"""Make pandas DataFrames, and read the columns of DataFrames that a user gives. pandas and pyarrow are optional packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sublex.errors import InputError, MissingExtra


def data_frame(columns: Mapping[str, Any], index: tuple[str, Sequence[str]] | None = None) -> Any:
    """Return a DataFrame of columns by name.

    `index` is the name and the labels of the DataFrame's index; without `index`, the rows are numbered from 0. Raise
    MissingExtra if pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise MissingExtra("A DataFrame", "pandas") from None
    labels = None if index is None else pandas.Index(index[1], name=index[0])
    return pandas.DataFrame(dict(columns), labels)


def arrow() -> Any:
    """Return the package pyarrow with its module for Parquet. Raise MissingExtra if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Parquet", "parquet") from None
    return pyarrow


def is_frame(value: Any) -> bool:
    """Return whether a value is a DataFrame, of pandas or of a library like it."""
    return not isinstance(value, Mapping) and hasattr(value, "columns") and hasattr(value, "__getitem__")


def frame_records(frame: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a DataFrame as dictionaries of Python values by column name."""
    names = list(frame.columns)
    if len(set(names)) < len(names):
        raise InputError(f"The DataFrame has two columns of one name: {', '.join(map(str, names))}; rename one.")
    columns = [frame[name].to_list() for name in names]
    for row in zip(*columns, strict=True):
        yield dict(zip(map(str, names), row, strict=True))
