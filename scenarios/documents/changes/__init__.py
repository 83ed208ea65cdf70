"""Changes of documents: laying one over another, values by path and by short names, and where each value stands."""
