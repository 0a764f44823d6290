"""The gateway's HTTP interface: requests in, answers out."""
