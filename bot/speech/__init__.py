"""What the bot says to people."""
