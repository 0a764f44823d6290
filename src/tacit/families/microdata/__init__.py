"""Tables as counts: distinct combinations, hierarchies, groups."""
