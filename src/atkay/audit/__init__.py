"""Audit: questions about a number. Which conventions are there, and which give the number that somebody printed?"""
