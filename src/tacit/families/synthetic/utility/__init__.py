"""What synthetic people are still good for: flows compared with the true ones."""
