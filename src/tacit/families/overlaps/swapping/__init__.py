"""Swapping: crowds of people who could exchange their values without any view noticing."""
