"""From a plan's check to the worlds behind it, for people to look at."""
