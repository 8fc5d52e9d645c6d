"""What one would write without this package, in the libraries at hand: the same problem, given
as features, labels and starting weights, solved in the space of the weights.

`pytorch` is gradient descent by automatic differentiation with CVXPY for the minimum norm, `jax`
compiled gradient descent with an accelerated projected gradient method.
"""
