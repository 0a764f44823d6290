"""Labels: values of a column, millions of them, each with one spelling
by which files and data are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, overload

import numpy as np

from tacit.engines.attach import CONVERSIONS
from tacit.families.microdata.hierarchy import value_text
from tacit.families.synthetic.occupied_cells import Integers
from tacit.model.schema import ColumnType

TEXTS: Any = np.dtype("T")  # short texts are held in 16 bytes each


class Labels(Sequence[Any]):
    """Values by their place; texts and whole numbers are held compactly.

    >>> labels = Labels.of(["b", "a", "c"])
    >>> labels[1], len(labels), labels.take(np.array([2, 0]))
    ('a', 3, ['c', 'b'])
    """

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    @classmethod
    def of(cls, values: Iterable[Any]) -> Labels:
        """From Python values, in order."""
        found = list(values)
        if all(type(value) is str for value in found):
            return cls(np.array(found, dtype=TEXTS))
        if all(type(value) is int for value in found):
            return cls(np.array(found, dtype=np.int64))
        array = np.empty(len(found), dtype=object)
        array[:] = found
        return cls(array)

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> Labels: ...
    def __getitem__(self, place: int | slice) -> Any:
        found = self.array[place]
        if isinstance(place, slice):
            return Labels(found)
        return found.item() if isinstance(found, np.generic) else found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labels) and self.array.tolist() == other.array.tolist()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Labels.of({self.array.tolist()!r})"

    def take(self, places: Integers) -> list[Any]:
        """The values at some places."""
        return list(self.array[places].tolist())


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the values of a table's column are written:
    its kind, and whether the engine has floats for it.

    >>> zips, doses = Spelling("zip", "integer"), Spelling("dose", "decimal")
    >>> zips.text(zips.value("0713")), doses.text(doses.value("1.50")), doses.text(Decimal("1.5"))
    ('713', '1.5', '1.5')
    """

    column: str
    kind: ColumnType = "text"
    is_float: bool = False

    def value(self, written: Any) -> Any:
        """A value as the engine gives it, from how a file or a plan has it;
        ValueError where it is of another kind.
        """
        try:
            found = CONVERSIONS[self.kind](
                written.strip() if self.kind != "text" and isinstance(written, str) else written
            )
        except (ValueError, TypeError, LookupError, ArithmeticError):
            raise ValueError(written) from None
        return float(found) if self.is_float else found

    @staticmethod
    def text(value: Any) -> str:
        """The one spelling of a value."""
        if not isinstance(value, Decimal | float):
            return value_text(value)
        digits = f"{Decimal(str(value)):f}"
        short = digits.rstrip("0").rstrip(".") if "." in digits else digits
        return "0" if short == "-0" else short
