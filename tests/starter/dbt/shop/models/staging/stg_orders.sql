with source as (
    select * from {{ ref('raw_orders') }}
)
select id as order_id, customer as customer_id, ordered, status from source
