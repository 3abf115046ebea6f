"""Runs untrusted commands. Knows nothing of models or GitHub."""
