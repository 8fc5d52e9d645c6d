"""Dynamics beside gradient descent on a ReLU model: gradient flow, other activations, both layers.

Import from the modules; what a neuron's slopes are stands in `activation`.
"""
