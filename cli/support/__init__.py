"""What commands share: options, files, progress."""
