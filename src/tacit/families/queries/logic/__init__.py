"""What is decided about queries: homomorphisms, chase, rewriting, critical tuples."""
