"""One behaviour per module: what the bot does about an event."""
