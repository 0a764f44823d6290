"""The plan: the owner's file, read into model objects; errors as file:line:column with a caret."""
