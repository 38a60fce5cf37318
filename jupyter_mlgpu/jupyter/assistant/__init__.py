"""Answers for assistants over the Model Context Protocol: from saved records and logs, reading alone."""
