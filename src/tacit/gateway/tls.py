"""TLS: the certificate that the gateway shows, read again while it runs."""

from __future__ import annotations

import ssl
from pathlib import Path

from tacit.errors import InputError
from tacit.gateway.options import Options


class TlsCertificate:
    """A certificate with its key, and the context that connections are made with."""

    def __init__(self, certificate: Path, key: Path) -> None:
        self._files = certificate, key
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.load()

    def load(self) -> None:
        """Read the files: who connects from now on is shown what they hold. An InputError where
        they cannot be read; what was shown before is shown on.
        """
        certificate, key = self._files
        try:
            # First into a context that nobody uses: a half of a pair must not be shown.
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
                certificate, key, password=lambda: ""
            )
            self.context.load_cert_chain(certificate, key, password=lambda: "")
        except (OSError, ssl.SSLError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise InputError(
                f"the certificate {certificate} with the key {key} cannot be used: {reason}.",
                hint="Both are PEM files, and the key has no password.",
            ) from None


def certificate_of(options: Options) -> TlsCertificate | None:
    """The certificate that the options name, if any."""
    if options.tls_certificate is None or options.tls_key is None:
        return None
    return TlsCertificate(options.tls_certificate, options.tls_key)
