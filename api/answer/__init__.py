"""What an answer is: a tree of sentences, tables and pictures, and how numbers are written in it."""
