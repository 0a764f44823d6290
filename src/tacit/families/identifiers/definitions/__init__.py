"""The definitions about direct identifiers, one a module."""
