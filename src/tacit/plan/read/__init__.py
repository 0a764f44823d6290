"""Reading a plan: from the text to values, with the place of every problem."""
