"""g-safety and e-safety: which databases does a view rule out, and how do odds change?"""
