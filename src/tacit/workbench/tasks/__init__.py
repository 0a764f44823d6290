"""What pages have done in processes of their own."""
