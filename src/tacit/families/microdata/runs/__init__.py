"""From a plan to a generalized release for which all its checks hold, or to an attack on one."""
