"""What experiments, protections and backends declare about themselves, and the jobs between them."""
