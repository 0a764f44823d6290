{# Groups with fewer than k rows: each row is one person. #}
{% test k_anonymity(model, k, quasi_identifiers=none) %}
{% if execute %}
{% if k is not integer or k < 2 %}{{ exceptions.raise_compiler_error('k_anonymity needs a whole number k from 2.') }}{% endif %}
{% set known = tacit.known_columns(model, quasi_identifiers) %}
select count(*) as people
from {{ model }}
{% if known %}group by {{ tacit.known_values(known) }}{% endif %}
having count(*) > 0 and count(*) < {{ k }}
{% endif %}
{% endtest %}
