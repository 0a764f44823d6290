"""From a plan's check to a question of view safety."""
