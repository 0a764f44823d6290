"""The workbench: pages in the browser on which an owner plans,
checks, repairs and records releases.

It is mounted on the gateway's application by `tacit serve`.
Pages hold no privacy logic: they call what the command line calls.
"""
