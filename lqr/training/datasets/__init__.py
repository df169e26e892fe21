"""Builds the data sets that the classifiers are trained on, from folders in the layout of the README."""
