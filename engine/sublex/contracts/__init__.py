"""The contracts between the engine and plugins: the hooks, the records that both exchange, and the protocols that plugins implement."""
