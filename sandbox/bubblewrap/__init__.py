"""Boxes held by bubblewrap: no daemon, no image."""
