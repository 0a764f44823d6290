"""Reports: the same verdicts for a terminal, for a program (JSON) and for a browser (HTML)."""
