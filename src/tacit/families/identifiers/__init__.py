"""Direct identifiers: columns of a release whose names or values say who somebody is."""
