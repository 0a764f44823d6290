"""The Python door to a gateway: a connection, the answers that come over it, what is sent, and
what can go wrong.
"""
