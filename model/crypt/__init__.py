"""Encrypting devices: dm-crypt, cryptoloop, and the ciphers they use."""
