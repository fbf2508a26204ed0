"""What footfalls tell: strides, gaits, whether a keyed cycle is one, and gait diagrams."""
