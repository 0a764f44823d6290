select distinct name, condition from {{ ref('stg_customers') }}
