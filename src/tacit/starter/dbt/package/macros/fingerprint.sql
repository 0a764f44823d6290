{# What a verdict about a model depends on but for its rows: the code of the model, of all that it
   reads and of all secrets, with the macros and variables in it, and the roles of columns. #}
{% macro fingerprint(model, check, parameters) %}
  {% set nodes = dict(graph.nodes, **graph.sources) %}
  {% set queue = [tacit.node_of(model).unique_id] %}
  {% set marked = [] %}
  {% for node in graph.nodes.values() if node.resource_type == 'analysis' %}
    {% if tacit.has_mark(node, 'secret') %}{% do queue.append(node.unique_id) %}{% endif %}
  {% endfor %}
  {% for node in nodes.values() if node.resource_type in ['seed', 'source'] and tacit.columns_with(node, 'sensitive') %}
    {% do marked.append([node.relation_name, tacit.roles_of(node)]) %}
  {% endfor %}
  {% set seen = {} %}
  {% for step in range(nodes | length) %}
    {% for id in queue[:] if id not in seen and id in nodes %}
      {% set node = nodes[id] %}
      {% set macros = {} %}
      {% for macro in (node.get('depends_on') or {}).get('macros') or [] %}{% do tacit.macro_code(macro, macros) %}{% endfor %}
      {% set code = [node.get('raw_code') or ''] + macros.values() | list %}
      {% do seen.update({id: [
          node.relation_name, node.get('config', {}).get('materialized'), code,
          tacit.settings_in(code | join('\n')), tacit.roles_of(node)
      ]}) %}
      {% do queue.extend((node.get('depends_on') or {}).get('nodes') or []) %}
    {% endfor %}
  {% endfor %}
  {{ return(local_md5(tojson([model | string, check, parameters, target.type, marked, seen], sort_keys=true))) }}
{% endmacro %}

{# The code of a macro and of the macros that it calls, but for those of dbt itself. #}
{% macro macro_code(id, found) %}
  {% set words = id.split('.') %}
  {% if id not in found and words[1] not in ['dbt', 'dbt_duckdb', 'dbt_postgres'] %}
    {% set macro = (context[words[1]] if words[1] in context else context)[words[2]].macro %}
    {% do found.update({id: macro.macro_sql}) %}
    {% for one in macro.depends_on.macros %}{% do tacit.macro_code(one, found) %}{% endfor %}
  {% endif %}
{% endmacro %}

{# The variables that code names, with their values. #}
{% macro settings_in(code) %}
  {% set found = {} %}
  {% for name in modules.re.findall("\\bvar\\(\\s*['\"]([^'\"]+)['\"]", code) %}
    {% do found.update({name: var(name, none) | string}) %}
  {% endfor %}
  {% for name in modules.re.findall("\\benv_var\\(\\s*['\"]([^'\"]+)['\"]", code) %}
    {% do found.update({'env ' ~ name: env_var(name, '')}) %}
  {% endfor %}
  {{ return(found) }}
{% endmacro %}

{# The columns of a node with their roles. #}
{% macro roles_of(node) %}
  {% set found = {} %}
  {% for role in ['pii', 'quasi_identifier', 'sensitive', 'insensitive'] %}
    {% do found.update({role: tacit.columns_with(node, role)}) %}
  {% endfor %}
  {{ return(found) }}
{% endmacro %}
