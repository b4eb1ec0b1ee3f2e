"""Derivatives that are not finite although the value is (layer: ``link``, room ``domains``)."""
