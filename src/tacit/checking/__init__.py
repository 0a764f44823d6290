"""From a plan to verdicts: who holds what, which question, and the worst verdict."""
