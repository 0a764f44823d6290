{# Groups with fewer than l different values of a column. What is missing is no value, and spellings
   that differ in case and spaces alone are one. #}
{% test l_diversity(model, l, column_name, quasi_identifiers=none) %}
{% if execute %}
{% if l is not integer or l < 2 %}{{ exceptions.raise_compiler_error('l_diversity needs a whole number l from 2.') }}{% endif %}
{% set known = tacit.known_columns(model, quasi_identifiers) %}
{% set values = 'count(distinct lower(' ~ tacit.known_value(column_name) ~ '))' %}
select {{ values }} as distinct_values
from {{ model }}
{% if known %}group by {{ tacit.known_values(known) }}{% endif %}
having count(*) > 0 and {{ values }} < {{ l }}
{% endif %}
{% endtest %}
