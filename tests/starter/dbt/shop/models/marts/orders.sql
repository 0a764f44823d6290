with payments as (
    select order_id, sum(amount) as amount from {{ ref('stg_payments') }} group by order_id
)
select orders.order_id, orders.ordered, orders.status, payments.amount
from {{ ref('stg_orders') }} as orders
left join payments on payments.order_id = orders.order_id
