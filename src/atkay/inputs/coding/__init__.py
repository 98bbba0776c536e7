"""Coding: ids of all tables as integer codes."""
