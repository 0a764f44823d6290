"""What we ask PostgreSQL's catalog: which tables and columns there are, what they come from, and
what a role may do.
"""

# A domain is of the type below it, also where that is a domain.
COLUMNS = """
    SELECT a.attname,
           (WITH RECURSIVE below AS (
                SELECT t.oid, t.typtype, t.typbasetype
                UNION ALL SELECT p.oid, p.typtype, p.typbasetype FROM below JOIN pg_type p ON p.oid = below.typbasetype WHERE below.typtype = 'd')
            SELECT format_type(oid, NULL) FROM below WHERE typtype <> 'd')
           || CASE WHEN t.oid = 1700 AND a.atttypmod >= 0 THEN ' scaled' WHEN t.oid = 1042 AND a.atttypmod < 0 THEN ' unpadded' WHEN t.typtype = 'e' THEN ' enum' ELSE '' END
           || CASE WHEN c.collisdeterministic THEN '' ELSE coalesce(' ' || c.collname, '') END
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_collation c ON c.oid = a.attcollation
    WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped
      AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
    ORDER BY a.attnum"""  # noqa: E501

NULLABLE = """
    SELECT a.attname FROM pg_attribute a
    WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped AND NOT a.attnotnull
    ORDER BY a.attnum"""

TABLES = """
    SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname !~ '^(pg_|information_schema$)'
      AND has_schema_privilege(n.oid, 'USAGE')"""  # noqa: E501

# Whether tables can be made in a schema (or on the search path), and what is there under a name.
PLACE = """
    SELECT pg_is_in_recovery(), n.nspname,
           n.oid IS NOT NULL AND has_schema_privilege(n.oid, 'CREATE'), (SELECT relkind FROM pg_class WHERE oid = to_regclass(%s))
    FROM (SELECT coalesce(%s, current_schema()) AS name) AS s LEFT JOIN pg_namespace n ON n.nspname = s.name"""  # noqa: E501

# A table, and all that its rows come from or go to: through views, rules, row security, partitions,
# inheritance. What system catalogs say does not stand in pg_depend, only in the rule itself
# (:relid). For each its number, its name and, where its rows may come from elsewhere, why: a
# foreign table, a system catalog, a function that is none of those that only compute
# (PLAIN_FUNCTIONS).
ORIGINS = """
    WITH RECURSIVE texts(relation, class, object, body) AS (
        SELECT ev_class, 'pg_rewrite'::regclass, oid, ev_action::text || ev_qual::text FROM pg_rewrite
        UNION ALL SELECT polrelid, 'pg_policy'::regclass, oid, coalesce(polqual::text, '') FROM pg_policy
    ), b(oid) AS (
        SELECT to_regclass(%(table)s)::oid
        UNION SELECT x.oid FROM b, LATERAL (
            SELECT d.refobjid FROM texts t JOIN pg_depend d ON d.classid = t.class AND d.objid = t.object
            WHERE t.relation = b.oid AND d.refclassid = 'pg_class'::regclass
            UNION ALL SELECT m[1]::oid FROM texts t, regexp_matches(t.body, ':relid ([0-9]+)', 'g') AS m WHERE t.relation = b.oid
            UNION ALL SELECT inhparent FROM pg_inherits WHERE inhrelid = b.oid
            UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = b.oid) AS x(oid)
    ), calls(relation, function) AS (
        SELECT t.relation, m[1]::oid FROM texts t JOIN b ON b.oid = t.relation,
            regexp_matches(t.body, ':(?:funcid|aggfnoid|winfnoid|tsmhandler) ([0-9]+)', 'g') AS m
        UNION SELECT t.relation, coalesce(o.oprcode, d.refobjid) FROM texts t JOIN b ON b.oid = t.relation
            JOIN pg_depend d ON d.classid = t.class AND d.objid = t.object AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
            LEFT JOIN pg_operator o ON o.oid = d.refobjid AND d.refclassid = 'pg_operator'::regclass)
    SELECT c.oid, current_database() || '/' || n.nspname || '.' || c.relname, c.oid::regclass::text,
           CASE WHEN c.relkind = 'f' THEN 'it is a foreign table'
                WHEN n.nspname IN ('pg_catalog', 'information_schema') THEN 'it tells of other tables'
                ELSE (SELECT min('it calls ' || p.proname) FROM calls k JOIN pg_proc p ON p.oid = k.function
                      WHERE k.relation = c.oid AND NOT (p.pronamespace = 'pg_catalog'::regnamespace
                          AND (p.provolatile = 'i' OR p.proname = ANY(%(plain)s)))) END
    FROM b JOIN pg_class c ON c.oid = b.oid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind NOT IN ('S', 'i', 'I', 'c', 't')"""  # noqa: E501

# PostgreSQL's own functions that depend on settings or on the clock, and read no table.
# All others of its own that are not IMMUTABLE may:
# query_to_xml, ts_stat and their like run text as SQL.
# So may all that somebody else wrote, whatever it is declared as.
PLAIN_FUNCTIONS = [
    "age",
    "array_agg",
    "array_to_json",
    "array_to_string",
    "clock_timestamp",
    "concat",
    "concat_ws",
    "current_schema",
    "current_setting",
    "date",
    "date_add",
    "date_part",
    "date_subtract",
    "date_trunc",
    "extract",
    "format",
    "gen_random_uuid",
    "generate_series",
    "json_agg",
    "json_array_elements",
    "json_build_array",
    "json_build_object",
    "json_object_agg",
    "json_populate_record",
    "json_populate_recordset",
    "json_to_record",
    "json_to_recordset",
    "jsonb_agg",
    "jsonb_build_array",
    "jsonb_build_object",
    "jsonb_object_agg",
    "jsonb_populate_record",
    "jsonb_populate_recordset",
    "jsonb_to_record",
    "jsonb_to_recordset",
    "jsonb_path_exists_tz",
    "jsonb_path_query_tz",
    "now",
    "quote_literal",
    "quote_nullable",
    "random",
    "row_to_json",
    "statement_timestamp",
    "string_agg",
    "time",
    "timeofday",
    "timestamp",
    "timestamptz",
    "timetz",
    "timezone",
    "to_char",
    "to_date",
    "to_json",
    "to_jsonb",
    "to_number",
    "to_timestamp",
    "transaction_timestamp",
]

# What is unique among the rows that are read from a table: by a key, or by an index over columns.
# Rows of tables that inherit from it are read with it, and its keys do not hold for them.
KEYS = """
    SELECT array_agg(a.attname::text ORDER BY k.at) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, at) JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
    WHERE i.indrelid = to_regclass(%s) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL AND k.at <= i.indnkeyatts
      AND (c.relkind = 'p' OR NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhparent = c.oid))
    GROUP BY i.indexrelid, i.indisprimary ORDER BY i.indisprimary DESC, 1"""  # noqa: E501

REFERENCES = """
    SELECT current_database() || '/' || c.conrelid, ARRAY(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY AS k(number, at)
               JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number ORDER BY k.at),
           current_database() || '/' || c.confrelid, ARRAY(SELECT a.attname::text FROM unnest(c.confkey) WITH ORDINALITY AS k(number, at)
               JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.number ORDER BY k.at)
    FROM pg_constraint c WHERE c.contype = 'f' ORDER BY c.conrelid, c.oid"""  # noqa: E501

# The entry that a table is. What is read from a view, or from a table together with those that
# inherit from it, is no entry of its own.
ENTRY = """
    SELECT current_database() || '/' || c.oid FROM pg_class c WHERE c.oid = to_regclass(%s)
      AND (c.relkind IN ('p', 'f') OR c.relkind = 'r' AND NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhparent = c.oid))"""  # noqa: E501

COMPUTES = """
    SELECT coalesce(bool_or(c.relkind IN ('v', 'f') OR a.attgenerated = 'v'), false)
    FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 WHERE c.oid = to_regclass(%s)"""  # noqa: E501

# What a role could do beyond reading tables. Membership that cannot be used at once counts too.
POWERS = """
    SELECT 'is a superuser' FROM pg_roles WHERE rolname = current_user AND rolsuper
    UNION ALL SELECT 'can become the superuser ' || quote_ident(rolname) FROM pg_roles
    WHERE rolsuper AND rolname <> current_user AND pg_has_role(current_user, oid, 'MEMBER')
    UNION ALL SELECT 'is a member of ' || rolname FROM pg_roles
    WHERE rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_write_all_data')
      AND pg_has_role(current_user, oid, 'MEMBER') AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)"""  # noqa: E501

EXISTS = "SELECT 1 WHERE to_regclass(%s) IS NOT NULL"
ROLE = "SELECT quote_ident(current_user)"
