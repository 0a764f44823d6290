"""Arrow and Feather files: their schema names the types, which become what those of Arrow do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.engines.files import cannot_read, check_names
from tacit.errors import DataError, Mark, MissingExtra

MAGIC = (b"ARROW1", b"FEA1")


def arrow_table(path: Path, shown: str) -> Any:
    """The table of a file: Arrow's file format, which Feather is too, or its stream."""
    try:
        import pyarrow
        from pyarrow import feather, ipc
    except ImportError:
        raise MissingExtra("pyarrow", extra="files", purpose="Arrow and Feather files") from None
    try:
        with path.open("rb") as file:
            is_file = file.read(6).startswith(MAGIC)
        if is_file:
            found = feather.read_table(path)
        else:
            with pyarrow.OSFile(str(path)) as stream:
                found = ipc.open_stream(stream).read_all()
    except pyarrow.ArrowException as error:
        raise DataError(
            f"{shown} is no whole Arrow or Feather file: {str(error).splitlines()[0]}",
            mark=Mark(shown),
        ) from None
    except OSError as error:
        raise cannot_read(shown, error) from None
    check_names(found.schema.names, shown, "Give every column a name.")
    return found
