"""Learned Motion Matching (Holden et al. 2020): its data, networks, losses and export."""
