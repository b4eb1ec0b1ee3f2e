"""The project itself: structure, documents, packaging."""
