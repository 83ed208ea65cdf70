"""The hot modules of the model as C extensions: the same source, compiled by mypyc, where a compiler is there."""
