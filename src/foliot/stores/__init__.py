"""The stores: one SQLAlchemy Core implementation for SQLite and PostgreSQL."""
