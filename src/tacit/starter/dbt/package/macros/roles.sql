{# The node of a relation that a test is about; none while dbt only parses. #}
{% macro node_of(relation) %}
  {% for node in graph.nodes.values() if node.relation_name == (relation | string) %}
    {{ return(node) }}
  {% endfor %}
  {{ return(none) }}
{% endmacro %}

{# Has a node or column this tag, or a key of its meta of this name that is true? #}
{% macro has_mark(one, mark) %}
  {% set config = one.get('config') or {} %}
  {{ return(mark in (one.get('tags') or []) or mark in (config.get('tags') or [])
      or (one.get('meta') or {}).get(mark) is sameas true or (config.get('meta') or {}).get(mark) is sameas true) }}
{% endmacro %}

{# The columns of a node with a role. #}
{% macro columns_with(node, role) %}
  {% set found = [] %}
  {% for column in node.columns.values() if tacit.has_mark(column, role) %}{% do found.append(column.name) %}{% endfor %}
  {{ return(found) }}
{% endmacro %}

{# A test with `where` judges some of the rows, and the model shows all. #}
{% macro refuse_where(model) %}
  {% if model is string %}{{ exceptions.raise_compiler_error('Tests of tacit take no where: the model shows all its rows.') }}{% endif %}
{% endmacro %}

{# What others may know of the rows: the columns that are named, else those with the role. Every
   other column must then have a role too, because the model shows all its columns. #}
{% macro known_columns(model, named) %}
  {% do tacit.refuse_where(model) %}
  {% set node = tacit.node_of(model) %}
  {% set hidden = tacit.columns_with(node, 'pii') if node else [] %}
  {% set there = adapter.get_columns_in_relation(model) | map(attribute='name') | list %}
  {% for column in there if column in hidden %}
    {{ exceptions.raise_compiler_error(model.identifier ~ ' shows ' ~ column ~ ', which is tagged pii. Leave the column out of the model.') }}
  {% endfor %}
  {% if named %}{{ return([named] if named is string else named) }}{% endif %}
  {% set known = tacit.columns_with(node, 'quasi_identifier') if node else [] %}
  {% set others = (tacit.columns_with(node, 'sensitive') + tacit.columns_with(node, 'insensitive')) if node else [] %}
  {% for column in there if column not in known and column not in others %}
    {{ exceptions.raise_compiler_error(model.identifier ~ '.' ~ column ~ ' has no role. Write meta: {quasi_identifier: true}, sensitive or insensitive at the column, or name quasi_identifiers in the test.') }}
  {% endfor %}
  {{ return(known) }}
{% endmacro %}

{# A quasi-identifier as SQL: blank text is missing, and all that is missing is one value. #}
{% macro known_value(column) %}nullif(trim(cast({{ adapter.quote(column) }} as {{ api.Column.translate_type('string') }})), ''){% endmacro %}

{% macro known_values(columns) %}{% for column in columns %}{{ tacit.known_value(column) }}{{ ', ' if not loop.last }}{% endfor %}{% endmacro %}
