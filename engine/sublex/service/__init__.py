"""The service: the operations of Sublex over HTTP, for the page in a browser, for programs, and for agents by MCP.

Routes, parameters, the schema and the tools are derived from the table of operations. Starlette and uvicorn are imported when a
server starts, and nothing else of the engine needs them.
"""
