"""The address of a server, and the data that may be sent to it."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.redaction import (
    HEADERS,
    KEY,
    Secret,
    is_address,
    secret,
    shown,
)

OPENAI = "https://api.openai.com/v1"
"""The default endpoint."""

VERSION = "OPENAI_API_VERSION"
"""Environment variable for the ``api-version`` of Azure's
older addresses, which name a deployment.
"""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that answers, by scheme, host, port and path; never credentials.

    The environment alone names an OpenAI-compatible server: a file in a pull request
    must not be able to send the key of a build server elsewhere.
    """

    url: str

    @classmethod
    def from_environment(cls) -> Endpoint:
        """The server that ``OPENAI_BASE_URL`` names, else
        OpenAI's own; raises as `parse`.
        """
        given = Secret(os.environ.get("OPENAI_BASE_URL", "").strip() or OPENAI)
        return cls.parse(given, "OPENAI_BASE_URL", OPENAI, KEY)

    @classmethod
    def parse(cls, given: str, name: str, example: str, variable: str) -> Endpoint:
        """The server at an address.

        Raises:
            RecommenderError: If the address is not usable; a password in it is not
                repeated.
        """
        given = Secret(given)  # a traceback shows local variables
        if not is_address(given) or urlsplit(given).scheme not in ("http", "https"):
            raise RecommenderError(
                f"{name}={str(shown(given))!r} is not the address of a server: http or https, a host, a port up to 65535 "
                f"and a path, without user name, query and fragment; write it as {example!r} or "
                f"'http://127.0.0.1:8000/v1', and a key in {variable}",
            )
        # Rebuild the address from checked parts, so that no other parser can read
        # another host from it.
        parts = urlsplit(given)
        host = (parts.hostname or "").lower()
        where = f"[{host}]" if ":" in host else host
        where = where if parts.port is None else f"{where}:{parts.port}"
        return cls(f"{parts.scheme}://{where}{parts.path.rstrip('/')}")

    @property
    def origin(self) -> str:
        """Scheme, host and port; the port is explicit even
        if it is the scheme's default.
        """
        parts = urlsplit(self.url)
        host = (
            f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        )
        return f"{parts.scheme}://{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"

    @property
    def is_loopback(self) -> bool:
        """Whether requests to it stay on this machine."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    @property
    def version(self) -> str | None:
        """The ``api-version`` to ask for, of an address of Azure that names a
        deployment; None for others.
        """
        return (
            os.environ.get(VERSION, "").strip()
            if "/openai/deployments/" in self.url
            else None
        )

    def key(self) -> Secret | None:
        """The key to send, or None; RecommenderError if it or the version of the API is
        missing, or if it or a further header would be sent unencrypted.
        """
        key, headers = secret(KEY) or None, secret(HEADERS)
        if key and not (key.isascii() and key.isprintable()):
            raise RecommenderError(
                f"{KEY} holds a character that no key has, such as a line break; copy it anew",
            )
        if self.version == "":
            raise RecommenderError(
                f"{self.url} needs a version of Azure's API: set {VERSION}, as in {VERSION}=2024-10-21, or use the address "
                f"that needs none, https://RESOURCE.openai.azure.com/openai/v1/",
            )
        encrypted = self.url.startswith("https:")
        if key is None and not headers and encrypted and not self.is_loopback:
            raise RecommenderError(
                f"{self.url} needs a key: set OPENAI_API_KEY (or, for a server on this machine, "
                f"OPENAI_BASE_URL=http://127.0.0.1:PORT/v1, which needs none)",
            )
        if (key or headers) and not encrypted and not self.is_loopback:
            variable = KEY if key else HEADERS
            raise RecommenderError(
                f"{variable} would go unencrypted to {self.url}: use https, or unset "
                f"{variable} for a server that needs none",
            )
        return key
