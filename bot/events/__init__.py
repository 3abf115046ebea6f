"""What GitHub tells: signatures, payloads, routing."""
