"""The Phase-Functioned Neural Network (Holden et al. 2017): its data, network, losses and export."""
