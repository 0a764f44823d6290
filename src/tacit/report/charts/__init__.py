"""Charts: pictures of verdicts and releases, as SVG."""
