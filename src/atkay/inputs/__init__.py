"""Inputs: whatever a user has, as checked tables and integer codes."""
