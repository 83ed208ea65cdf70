"""Why an array is slower, or faster, than it should be: causes that are run on the model and compared with figures."""
