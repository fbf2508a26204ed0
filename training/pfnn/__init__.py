"""The Phase-Functioned Neural Network (systems.md section 3): its data, network, losses and export."""
