"""Perfect privacy: does a view say anything at all about a secret?"""
