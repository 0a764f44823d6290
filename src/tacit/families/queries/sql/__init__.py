"""SQL read as conjunctive queries."""
