"""Text as people read it: which values are blank, and which are spellings of one word."""

from __future__ import annotations

import unicodedata
from typing import Any

# Characters that show nothing, and that no word needs:
# soft hyphens, joiners, marks of direction, fillers, variants of a letter's shape.
INVISIBLE = "".join(
    map(
        chr,
        (
            0xAD,
            0x34F,
            0x61C,
            0x115F,
            0x1160,
            0x17B4,
            0x17B5,
            *range(0x180B, 0x180F),
            *range(0x200B, 0x2010),
            *range(0x202A, 0x202F),
        ),
    )
) + "".join(
    map(chr, (*range(0x2060, 0x2070), 0x2800, 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0))
)
SPACES = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
BLANKS = SPACES + INVISIBLE  # a text of these alone is no value
_REMOVED = dict.fromkeys(map(ord, INVISIBLE))


def is_blank(value: Any) -> bool:
    """Is a value a text in which nothing can be read?

    >>> is_blank(""), is_blank("  "), is_blank("\\u200b"), is_blank("x"), is_blank(None)
    (True, True, True, False, False)
    """
    return isinstance(value, str) and not value.strip(BLANKS)


def folded(value: Any) -> Any:
    """A value without case, needless spaces and ways to write the same letters:
    equal for spellings of one word.

    Composed and decomposed letters are one, and so are full-width ones and ligatures;
    what cannot be seen is left out.

    >>> (
    ...     folded(" Heart  Disease"),
    ...     folded("cafe\\u0301") == folded("CAF\\u00c9"),
    ...     folded("ｆｌｕ"),
    ...     folded("fl\\u200bu"),
    ... )
    ('heart disease', True, 'flu', 'flu')
    """
    if not isinstance(value, str):
        return value
    if value.isascii():
        return " ".join(value.casefold().split())
    shape = unicodedata.normalize("NFKC", value.translate(_REMOVED)).casefold()
    return " ".join(unicodedata.normalize("NFKC", shape).split())
