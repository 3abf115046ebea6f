"""The model gateway: protocol, servers, recordings, reading of answers."""
