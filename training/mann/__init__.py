"""The Mode-Adaptive Neural Network (systems.md section 4): its data, network, losses and export."""
