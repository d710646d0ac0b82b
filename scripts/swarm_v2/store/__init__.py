"""The durable store."""
