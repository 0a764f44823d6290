"""Unify: which terms are equal, in one valuation for everything that is asked of them.

A class of equal terms remembers its constant, the values that its columns allow and whether it can
be NULL. Joining two classes either works or shows that no valuation exists.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.families.queries.logic.numbered_queries import NUMBERED_NULL, NumberedBody


class Unifier:
    """Classes of equal terms; constants are their own representatives.

    >>> classes = Unifier()
    >>> classes.join(-1, -2) and classes.join(-2, 5), classes.find(-1), classes.join(-1, 6)
    (True, 5, False)
    """

    __slots__ = ("domains", "maybe", "parent", "version")

    def __init__(self) -> None:
        self.parent: dict[int, int] = {}
        self.domains: dict[int, frozenset[int]] = {}
        self.maybe: set[int] = set()
        self.version = 0

    @classmethod
    def of(cls, *bodies: NumberedBody) -> Unifier:
        """The classes of some queries before anything is joined."""
        classes = cls()
        for body in bodies:
            classes.domains.update(body.domains)
            classes.maybe |= body.maybe
        return classes

    def copy(self) -> Unifier:
        """The same classes, to be changed apart."""
        other = Unifier()
        other.parent = self.parent.copy()
        other.domains = self.domains.copy()
        other.maybe = self.maybe.copy()
        other.version = self.version
        return other

    def find(self, term: int) -> int:
        """The representative of a term's class: its constant if it has one."""
        parent = self.parent
        while (above := parent.get(term)) is not None:
            further = parent.get(above)
            if further is None:
                return above
            parent[term] = term = further
        return term

    def join(self, one: int, two: int) -> bool:
        """Make two terms equal. False: they cannot be."""
        one, two = self.find(one), self.find(two)
        if one == two:
            return True
        if one >= 0:
            one, two = two, one
        if one >= 0 or (two >= 0 and not self.allows(one, two)):
            return False
        self.parent[one] = two
        self.version += 1
        domain, nullable = self.domains.pop(one, None), one in self.maybe
        self.maybe.discard(one)
        if two >= 0:
            return True
        if not nullable:
            self.maybe.discard(two)
        if domain is not None:
            self.domains[two] = self.domains.get(two, domain) & domain
        return self.settle(two)

    def allows(self, variable: int, value: int) -> bool:
        """Can the class of a variable take a value?"""
        if value == NUMBERED_NULL:
            return variable in self.maybe
        domain = self.domains.get(variable)
        return domain is None or value in domain

    def never_null(self, term: int) -> bool:
        """Make a term known. False: it is NULL."""
        root = self.find(term)
        if root >= 0:
            return root != NUMBERED_NULL
        if root in self.maybe:
            self.maybe.discard(root)
            return self.settle(root)
        return True

    def exclude(self, variable: int, value: int) -> bool:
        """Take a value from the class of a variable. False: nothing is left."""
        if value == NUMBERED_NULL:
            return self.never_null(variable)
        domain = self.domains.get(variable)
        if domain is None or value not in domain:
            return True
        self.domains[variable] = domain - {value}
        return self.settle(variable)

    def settle(self, root: int) -> bool:
        """A class that is left with one value takes it. False: it is left with none."""
        domain = self.domains.get(root)
        if domain is None or len(domain) + (root in self.maybe) > 1:
            return True
        if not domain and root not in self.maybe:
            return False
        return self.join(root, next(iter(domain), NUMBERED_NULL))

    def join_all(self, ones: Sequence[int], twos: Sequence[int]) -> bool:
        """Make the terms of two tuples equal, place by place."""
        return all(map(self.join, ones, twos))


def may_unify(ones: Sequence[int], twos: Sequence[int]) -> bool:
    """Could two atoms be one tuple as far as their constants say? The
    quick test before the real one.
    """
    return all(one == two or one < 0 or two < 0 for one, two in zip(ones, twos, strict=True))
