"""One file a format: features (n, d) and labels (n,) as they are written, never unpickled.

Each module has `features(file, member, label_column)`, which leaves out the label column where the
format keeps it among the features, and `labels(file, member, label_column)`. Both return what the
file holds; `verify.datasets` decides whether that can be used.
"""
