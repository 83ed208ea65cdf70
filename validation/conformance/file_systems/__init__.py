"""File systems and the page cache over md, beside recordings of the real ones."""
