"""What Alembic runs: the chain, on the connection that it is handed."""

from alembic import context

from foliot.stores.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    compare_server_default=False,
)
context.run_migrations()
