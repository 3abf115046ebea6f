"""Boxes held by a Docker engine, or by anything that speaks its API."""
