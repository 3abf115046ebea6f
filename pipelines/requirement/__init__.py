"""From issue text to a Requirement."""
