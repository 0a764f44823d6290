"""A dbt project as a plan: what its manifest says, its checks, and the verdicts for its tests."""
