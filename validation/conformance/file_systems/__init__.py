"""File systems and the page cache over md, compared with recordings of the real ones."""
