"""Learned Motion Matching (systems.md section 2): its data, networks, losses and export."""
