"""Audit: which conventions exist, and which give a reported number?"""
