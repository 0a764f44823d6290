{# The verdict that `tacit dbt` found and `tacit.store` stored: a row unless it holds. The two
   comments are for `tacit dbt`: what the verdict is stored under, and which rows it is about. #}
{% test verdict(model, check, parameters=none) %}
{% if execute %}
{% do tacit.refuse_where(model) %}
{% set fingerprint = tacit.fingerprint(model, check, parameters or {}) %}
{% set place = tacit.verdicts_table() %}
{% set stored = adapter.get_relation(place.database, place.schema, place.identifier) %}
{% set rows = tacit.rows_hash(model) if adapter.get_relation(model.database, model.schema, model.identifier) %}
{% set run = 'Run tacit dbt, then dbt run-operation tacit.store.' %}
-- tacit fingerprint {{ fingerprint }}
-- tacit rows {{ rows }}
{% if stored is none or not rows %}
select 'not checked' as verdict, 'No verdict is stored. {{ run }}' as because
{% else %}
with stored as (
    select status, because from {{ stored }}
    where fingerprint = '{{ fingerprint }}' and (rows_hash is null or rows_hash = ({{ rows }}))
)
select 'not checked' as verdict, 'No verdict is stored for this model as it is now. {{ run }}' as because
where not exists (select 1 from stored)
union all
select status as verdict, because from stored where status <> 'holds'
{% endif %}
{% endif %}
{% endtest %}
