{% macro in_units(column) %}{{ column }} / {{ var('cents') }}{% endmacro %}
