"""From a plan to a question about several views of one table:
its people, its views, their answers, the values.
"""
