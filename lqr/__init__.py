"""Layered Query Retrieval: question answering over documents in which every claim stands on a passage."""

__version__ = "0.1.0"
