"""What somebody can come to believe who knows something already: adversaries, secrets, measures."""
