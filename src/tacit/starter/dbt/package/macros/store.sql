{# Where verdicts are stored: a table beside the models of this target. #}
{% macro verdicts_table() %}
  {{ return(api.Relation.create(database=target.database, schema=target.schema, identifier='tacit_verdicts', type='table')) }}
{% endmacro %}

{# SQL in one line for a hash of all rows of a relation: a verdict about data counts for these rows only. #}
{% macro rows_hash(relation) %}
  {% set text = api.Column.translate_type('string') %}
  {% set cells = [] %}
  {% for column in adapter.get_columns_in_relation(relation) %}
    {% set value = 'cast(' ~ adapter.quote(column.name) ~ ' as ' ~ text ~ ')' %}
    {% do cells.append("coalesce(length(" ~ value ~ ") || ':' || " ~ value ~ ", '-')") %}
  {% endfor %}
  {%- set cells = cells | join(" || ',' || ") -%}
  {{- return("select md5(coalesce(string_agg(one, '' order by one), '')) from (select md5(" ~ cells ~ ") as one from " ~ relation ~ ") as each_row") }}
{% endmacro %}

{# dbt run-operation tacit.store --args "$(cat target/tacit/store.json)" #}
{% macro store(verdicts) %}
  {% set table = tacit.verdicts_table() %}
  {% set text = api.Column.translate_type('string') %}
  {% set statements = ['drop table if exists ' ~ table,
      'create table ' ~ table ~ ' (fingerprint ' ~ text ~ ', rows_hash ' ~ text ~ ', status ' ~ text ~ ', because ' ~ text ~ ')'] %}
  {% for one in verdicts %}
    {% set hash = "'" ~ one.rows_hash ~ "'" if one.rows_hash else 'null' %}
    {% do statements.append('insert into ' ~ table ~ " select '" ~ one.fingerprint ~ "', " ~ hash ~ ", '" ~ one.status ~ "', '" ~ one.because | replace("'", "''") ~ "'") %}
  {% endfor %}
  {% call statement('store', auto_begin=true) %}{{ statements | join(';\n') }}{% endcall %}
  {% do adapter.commit() %}
  {% do log('tacit: ' ~ verdicts | length ~ ' verdicts stored in ' ~ table, info=true) %}
{% endmacro %}
