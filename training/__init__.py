"""Training of locomotion models with torch: datasets in, model packs out. Never imported by Blender."""
