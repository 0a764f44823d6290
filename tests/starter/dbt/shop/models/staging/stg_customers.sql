with source as (
    select * from {{ ref('raw_customers') }}
)
select id as customer_id, name, zip, born, condition from source
