"""The stores on real databases: what every method of a transaction promises, on SQLite and on PostgreSQL."""
