"""The certificate authorities that a container must trust besides the public ones, for networks that re-sign TLS.

A company's proxy opens TLS and signs it again with a key of the company's own. The host has been told to trust that
key; an image has not. `docs/company-networks.md` says for people what is decided here.
"""

import binascii
import hashlib
import os
import re
import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import certifi

from hbench.container.archive import Entry, file
from hbench.errors import SuiteError

BUNDLE_FILE = "/etc/ssl/hbench-ca.pem"
APT_FILE = "/etc/ssl/hbench-apt.conf"
WGET_FILE = "/etc/ssl/hbench-wgetrc"
EXTRA_FILE = "/usr/local/share/ca-certificates/hbench-ca-{number}.crt"
"""Where `update-ca-certificates` finds what it adds to the image's own bundle, now or once its package is there."""

VARIABLES: Mapping[str, str] = {
    "SSL_CERT_FILE": BUNDLE_FILE,  # OpenSSL, Go, Rust, uv, Ruby
    "CURL_CA_BUNDLE": BUNDLE_FILE,
    "REQUESTS_CA_BUNDLE": BUNDLE_FILE,
    "PIP_CERT": BUNDLE_FILE,
    "NODE_EXTRA_CA_CERTS": BUNDLE_FILE,
    "GIT_SSL_CAINFO": BUNDLE_FILE,
    "AWS_CA_BUNDLE": BUNDLE_FILE,
    "CARGO_HTTP_CAINFO": BUNDLE_FILE,
    "DENO_CERT": BUNDLE_FILE,
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": BUNDLE_FILE,
    "APT_CONFIG": APT_FILE,  # apt and wget know no variable for this, but one for a further settings file
    "WGETRC": WGET_FILE,
}
"""Every environment variable that leads a program to the bundle: what hbench sets, and what it must not inherit."""

HBENCH_VARIABLE = "HBENCH_CA_BUNDLE"
_HOST_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----\s(.+?)\s-----END CERTIFICATE-----", re.DOTALL)
_CAP_BYTES = 16 << 20


@dataclass(frozen=True, kw_only=True)
class CaBundle:
    """What a container is to trust.

    Attributes:
        pem: All of it: the public authorities and the extra ones.
        extra: Those that no distribution ships, each as PEM.
        sha256: Of `pem`, in hex.
        found: Where it was said: the suite's `ca_bundle`, HBENCH_CA_BUNDLE, or nowhere, the host trusts them.
    """

    pem: bytes
    extra: tuple[bytes, ...]
    sha256: str
    found: Literal["suite", "environment", "host"]


@dataclass(frozen=True, kw_only=True)
class Stores:
    """Where a host keeps certificates; files, or folders of files.

    Attributes:
        bundles: What programs read, the first that exists counts.
        shipped: What the distribution's own package brought.
        local: What this machine's owner added.
        public: The authorities that the world trusts.
    """

    bundles: tuple[Path, ...]
    shipped: tuple[Path, ...]
    local: tuple[Path, ...]
    public: Path


HOST = Stores(
    bundles=(
        Path("/etc/ssl/certs/ca-certificates.crt"),
        Path("/etc/pki/tls/certs/ca-bundle.crt"),
        Path("/etc/ssl/ca-bundle.pem"),
        Path("/etc/ssl/cert.pem"),
    ),
    shipped=(
        Path("/usr/share/ca-certificates/mozilla"),
        Path("/usr/share/ca-certificates/trust-source/mozilla.trust.p11-kit"),
        Path("/usr/share/pki/ca-trust-source/ca-bundle.trust.p11-kit"),
        Path("/usr/share/pki/trust/ca-certificates-mozilla.trust.p11-kit"),
    ),
    local=(
        Path("/usr/local/share/ca-certificates"),
        Path("/etc/pki/ca-trust/source/anchors"),
        Path("/etc/pki/trust/anchors"),
        Path("/etc/ca-certificates/trust-source/anchors"),
    ),
    public=Path(certifi.where()),
)


def find_ca_bundle(*, suite: str | None, environ: Mapping[str, str], stores: Stores = HOST) -> CaBundle | None:
    """What to hand in: what the suite says, else what HBENCH_CA_BUNDLE says, else what the host trusts by itself.

    None if the host trusts nothing that an image would not.

    Raises:
        SuiteError: The suite or the variable names a file without certificates.
    """
    if suite is not None:
        return _made(_said(Path(suite).expanduser(), "ca_bundle of [network]"), "suite", stores)
    if environ.get(HBENCH_VARIABLE):
        return _made(_said(Path(environ[HBENCH_VARIABLE]).expanduser(), HBENCH_VARIABLE), "environment", stores)
    for path in dict.fromkeys(_host_bundles(environ, stores)):
        bundle = _made(_certificates([path]), "host", stores)
        if bundle.extra:
            return bundle
    return None


def container_files(bundle: CaBundle) -> list[Entry]:
    """The files to put into a container or image."""
    entries = [
        file(BUNDLE_FILE, bundle.pem),
        file(APT_FILE, f'Acquire::https::CaInfo "{BUNDLE_FILE}";\n'.encode()),
        file(WGET_FILE, f"ca_certificate = {BUNDLE_FILE}\n".encode()),
    ]
    return entries + [file(EXTRA_FILE.format(number=number), pem) for number, pem in enumerate(bundle.extra, 1)]


def container_env(bundle: CaBundle | None) -> dict[str, str]:
    """What commands in a container with these files get, at setup, agent and test time."""
    return {} if bundle is None else dict(VARIABLES)


def merged(image_bundle: bytes | None, bundle: CaBundle) -> bytes | None:
    """The image's own bundle with the extra authorities added; None if it has none or lacks nothing."""
    if image_bundle is None:
        return None
    known = set(_blocks(image_bundle))
    missing = [pem for pem in bundle.extra if not known.issuperset(_blocks(pem))]
    if not missing:
        return None
    return b"".join([image_bundle.rstrip(b"\n"), b"\n", *missing])


def _said(path: Path, where: str) -> list[bytes]:
    """The certificates of a file that somebody named."""
    hint = "Name a file of PEM certificates; your company's IT has it. docs/company-networks.md says how to find it."
    if not path.is_file():
        raise SuiteError(f"there is no file {str(path)!r}", where=where, hint=hint)
    found = _certificates([path])
    if not found:
        raise SuiteError(f"{str(path)!r} holds no PEM certificate", where=where, hint=hint)
    if len(_valid(found)) < len(found):
        raise SuiteError(f"{str(path)!r} holds a certificate that cannot be read", where=where, hint=hint)
    return found


def _host_bundles(environ: Mapping[str, str], stores: Stores) -> Iterable[Path]:
    """The files that programs on this host trust, those that somebody set first.

    Without knowing what the distribution shipped, its own bundle tells nothing: all distributions differ a little.
    """
    for name in _HOST_VARIABLES:
        if environ.get(name):
            yield Path(environ[name])
    if any(path.exists() for path in stores.shipped):
        yield from [path for path in stores.bundles if path.is_file()][:1]


def _made(source: list[bytes], found: Literal["suite", "environment", "host"], stores: Stores) -> CaBundle:
    public = _certificates([stores.public])
    ordinary = {*public, *_certificates(stores.shipped)} - {*_certificates(stores.local)}
    extra = [der for der in source if der not in ordinary and _is_authority(der)]
    pem = b"".join(map(_pem, _valid(list(dict.fromkeys([*source, *public])))))
    return CaBundle(pem=pem, extra=tuple(map(_pem, extra)), sha256=hashlib.sha256(pem).hexdigest(), found=found)


def _certificates(paths: Iterable[Path]) -> list[bytes]:
    """The DER certificates in these files and folders, each once, in order; what cannot be read holds none."""
    found: dict[bytes, None] = {}
    for path in paths:
        for one in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if one.is_file() and os.access(one, os.R_OK) and one.stat().st_size <= _CAP_BYTES:
                found.update(dict.fromkeys(_blocks(one.read_bytes())))
    return list(found)


def _blocks(pem: bytes) -> Iterable[bytes]:
    for match in _BLOCK.finditer(pem):
        try:
            yield binascii.a2b_base64(match[1])
        except binascii.Error:  # a block that is not base64 is not a certificate
            continue


def _pem(der: bytes) -> bytes:
    return ssl.DER_cert_to_PEM_cert(der).encode()


def _valid(certificates: list[bytes]) -> list[bytes]:
    """Those that OpenSSL reads: one that it does not would make it refuse the whole bundle."""
    if _context(b"".join(certificates)) is not None:
        return certificates
    return [der for der in certificates if _context(der) is not None]


def _is_authority(der: bytes) -> bool:
    """Whether it may sign others and is still valid; OpenSSL lists just those that may."""
    context = _context(der)
    listed = context.get_ca_certs() if context else []
    return any(ssl.cert_time_to_seconds(str(one["notAfter"])) > time.time() for one in listed)


def _context(certificates: bytes) -> ssl.SSLContext | None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=certificates)
    except ssl.SSLError:
        return None
    return context
