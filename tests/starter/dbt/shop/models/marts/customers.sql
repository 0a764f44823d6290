with visits as (
    select customer_id, count(order_id) as orders from {{ ref('stg_orders') }} group by customer_id
)
select customers.customer_id, customers.name, visits.orders
from {{ ref('stg_customers') }} as customers
left join visits on visits.customer_id = customers.customer_id
