"""From a plan to a question about microdata: the tables attached, counted once."""
