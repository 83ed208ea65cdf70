"""What the pages show: pictures, tables, colors and the report."""
