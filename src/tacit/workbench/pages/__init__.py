"""The pages, one module each: `show` builds one from what a visit has."""
