"""Recommenders trained by gradient descent; each module is imported when its model is first named.

They need PyTorch: ``pip install 'pytest-recsys-mt[train]'``.
"""
