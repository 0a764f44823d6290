"""What we ask PostgreSQL's catalog: which tables and columns there are, what they come from, and what a role may do."""

COLUMNS = """
    SELECT a.attname,
           format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END, NULL)
           || CASE WHEN t.oid = 1700 AND a.atttypmod >= 0 THEN ' scaled' ELSE '' END
           || CASE WHEN c.collisdeterministic THEN '' ELSE coalesce(' ' || c.collname, '') END
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_collation c ON c.oid = a.attcollation
    WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped
      AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
    ORDER BY a.attnum"""

NULLABLE = """
    SELECT a.attname FROM pg_attribute a
    WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped AND NOT a.attnotnull
    ORDER BY a.attnum"""

TABLES = """
    SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname !~ '^(pg_|information_schema$)'
      AND has_schema_privilege(n.oid, 'USAGE')"""

# Whether tables can be made in a schema (or on the search path), and what is there under a name.
PLACE = """
    SELECT pg_is_in_recovery(), n.nspname,
           n.oid IS NOT NULL AND has_schema_privilege(n.oid, 'CREATE'), (SELECT relkind FROM pg_class WHERE oid = to_regclass(%s))
    FROM (SELECT coalesce(%s, current_schema()) AS name) AS s LEFT JOIN pg_namespace n ON n.nspname = s.name"""

# A table, and all that its rows come from or go to: through views, partitions, inheritance.
BASES = """
    WITH RECURSIVE b(oid) AS (
        SELECT to_regclass(%s)::oid
        UNION SELECT x.oid FROM b, LATERAL (
            SELECT d.refobjid FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
            WHERE r.ev_class = b.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> b.oid
            UNION ALL SELECT inhparent FROM pg_inherits WHERE inhrelid = b.oid
            UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = b.oid) AS x(oid))
    SELECT oid FROM b WHERE oid IS NOT NULL"""

COMPUTES = """
    SELECT coalesce(bool_or(c.relkind IN ('v', 'f') OR a.attgenerated = 'v'), false)
    FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 WHERE c.oid = to_regclass(%s)"""

# What a role could do beyond reading tables. Membership that cannot be used at once counts too.
POWERS = """
    SELECT 'is a superuser' FROM pg_roles WHERE rolname = current_user AND rolsuper
    UNION ALL SELECT 'can become the superuser ' || quote_ident(rolname) FROM pg_roles
    WHERE rolsuper AND rolname <> current_user AND pg_has_role(current_user, oid, 'MEMBER')
    UNION ALL SELECT 'is a member of ' || rolname FROM pg_roles
    WHERE rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_write_all_data')
      AND pg_has_role(current_user, oid, 'MEMBER') AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)"""

EXISTS = "SELECT 1 WHERE to_regclass(%s) IS NOT NULL"
ROLE = "SELECT quote_ident(current_user)"
