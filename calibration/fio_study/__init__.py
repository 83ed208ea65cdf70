"""A study made from reports of fio."""
