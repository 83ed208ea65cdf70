"""Jobs of fio on the model."""
