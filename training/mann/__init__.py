"""The Mode-Adaptive Neural Network (Zhang et al. 2018): its data, network, losses and export."""
