with source as (
    select * from {{ ref('raw_payments') }}
)
select id as payment_id, order_id, method, {{ in_units('amount') }} as amount from source
