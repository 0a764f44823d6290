"""Drawing: exact randomness, and the synthetic people of one group."""
