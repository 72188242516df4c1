"""The one chain of migrations, for both databases."""
