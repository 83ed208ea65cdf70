"""What the pages show: pictures, tables, colours and the report."""
