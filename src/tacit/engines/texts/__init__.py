"""Files of other programs as columns of text, which are then typed as those of a CSV file are."""
