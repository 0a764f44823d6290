select zip, born, condition from {{ ref('stg_customers') }}
