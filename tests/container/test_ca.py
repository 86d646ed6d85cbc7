import hashlib
import ssl
from collections.abc import Mapping
from pathlib import Path

import certifi
import pytest

from hbench.container.ca import (
    BUNDLE_FILE,
    HBENCH_VARIABLE,
    VARIABLES,
    CaBundle,
    Stores,
    container_env,
    container_files,
    find_ca_bundle,
    merged,
)
from hbench.errors import SuiteError

DATA = Path(__file__).parent / "data"
COMPANY = (DATA / "company-ca.pem").read_bytes()
SECOND = (DATA / "second-ca.pem").read_bytes()
LEAF = (DATA / "leaf.pem").read_bytes()
EXPIRED = (DATA / "expired-ca.pem").read_bytes()
PUBLIC = Path(certifi.where()).read_bytes()
NOTHING_SET: Mapping[str, str] = {}


class Host:
    """A made-up host: what it trusts is the public roots and what a test adds."""

    def __init__(self, folder: Path) -> None:
        self.bundle = folder / "ca-certificates.crt"
        self.shipped = folder / "shipped"
        self.local = folder / "local"
        self.shipped.mkdir()
        self.local.mkdir()
        self.trusts()

    def trusts(self, *extra: bytes) -> None:
        self.bundle.write_bytes(b"".join([PUBLIC, *extra]))

    @property
    def stores(self) -> Stores:
        return Stores(
            bundles=(Path("/nowhere"), self.bundle),
            shipped=(self.shipped,),
            local=(self.local,),
            public=Path(certifi.where()),
        )

    def find(self, suite: Path | None = None, environ: Mapping[str, str] = NOTHING_SET) -> CaBundle | None:
        return find_ca_bundle(suite=None if suite is None else str(suite), environ=environ, stores=self.stores)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def _authorities(pem: bytes) -> set[bytes]:
    """As OpenSSL itself reads a bundle."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=pem.decode("ascii", "ignore"))
    return set(context.get_ca_certs(binary_form=True))


def test_an_ordinary_host_hands_nothing_in(host: Host) -> None:
    """What every image trusts by itself needs no help."""
    assert host.find() is None


def test_roots_that_only_the_distribution_ships_are_not_a_company(host: Host) -> None:
    """Distributions keep or drop public roots a little earlier or later than others."""
    host.trusts(COMPANY)
    (host.shipped / "Old_Public_Root.crt").write_bytes(COMPANY)
    assert host.find() is None


def test_a_root_that_nobody_ships_is_found(host: Host) -> None:
    """The host trusts more than the image does: that is what a re-signing proxy looks like from here."""
    host.trusts(COMPANY)
    found = host.find()
    assert found is not None
    assert (found.extra, found.found) == ((COMPANY,), "host")
    assert _authorities(found.pem) == _authorities(PUBLIC) | _authorities(COMPANY)
    assert found.sha256 == hashlib.sha256(found.pem).hexdigest()


def test_a_root_that_the_owner_installed_counts_even_if_python_has_it_too(host: Host) -> None:
    """Some companies also patch the bundle of Python's packages."""
    host.trusts(COMPANY)
    patched = host.local.parent / "certifi.pem"
    patched.write_bytes(PUBLIC + COMPANY)
    stores = Stores(**{**host.stores.__dict__, "public": patched})
    assert find_ca_bundle(suite=None, environ={}, stores=stores) is None
    (host.local / "company.crt").write_bytes(COMPANY)
    found = find_ca_bundle(suite=None, environ={}, stores=stores)
    assert found is not None
    assert found.extra == (COMPANY,)


@pytest.mark.parametrize("useless", [LEAF, EXPIRED])
def test_a_certificate_that_cannot_sign_is_not_a_company_root(host: Host, useless: bytes) -> None:
    """A server's own certificate, or one that has run out, opens no connection."""
    host.trusts(useless)
    assert host.find() is None


def test_without_knowing_what_the_distribution_ships_its_bundle_says_nothing(host: Host) -> None:
    """On macOS, say, where the system's file differs from the public roots by its age."""
    host.trusts(COMPANY)
    stores = Stores(**{**host.stores.__dict__, "shipped": (Path("/nowhere"),)})
    assert find_ca_bundle(suite=None, environ={}, stores=stores) is None
    somebody_set_it = {"REQUESTS_CA_BUNDLE": str(host.bundle)}
    assert find_ca_bundle(suite=None, environ=somebody_set_it, stores=stores) is not None


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_the_variables_of_common_programs_are_looked_at(host: Host, tmp_path: Path, name: str) -> None:
    """Where the company's set-up sets them and leaves the system's store alone."""
    (tmp_path / "company.pem").write_bytes(COMPANY)
    found = host.find(environ={name: str(tmp_path / "company.pem")})
    assert found is not None
    assert (found.extra, found.found) == ((COMPANY,), "host")


def test_a_variable_that_leads_nowhere_does_not_hide_the_system(host: Host) -> None:
    """Nor does one that names only public roots."""
    host.trusts(COMPANY)
    found = host.find(environ={"SSL_CERT_FILE": "/nowhere.pem", "CURL_CA_BUNDLE": certifi.where()})
    assert found is not None
    assert found.extra == (COMPANY,)


def test_the_suite_goes_before_the_variable_and_that_before_the_host(host: Host, tmp_path: Path) -> None:
    """The more explicit word wins."""
    host.trusts(COMPANY)
    (tmp_path / "a.pem").write_bytes(SECOND)
    (tmp_path / "b.pem").write_bytes(COMPANY + SECOND)
    by_suite = host.find(tmp_path / "a.pem", environ={HBENCH_VARIABLE: str(tmp_path / "b.pem")})
    by_variable = host.find(environ={HBENCH_VARIABLE: str(tmp_path / "b.pem")})
    assert by_suite is not None
    assert by_variable is not None
    assert (by_suite.found, by_suite.extra) == ("suite", (SECOND,))
    assert (by_variable.found, by_variable.extra) == ("environment", (COMPANY, SECOND))


def test_a_bundle_of_the_company_alone_is_filled_up_with_the_public_roots(host: Host, tmp_path: Path) -> None:
    """Its file is the only one that programs read then, and not every host is re-signed."""
    (tmp_path / "a.pem").write_bytes(b"Company root, do not share\n\n" + COMPANY)
    found = host.find(tmp_path / "a.pem")
    assert found is not None
    assert _authorities(found.pem) == _authorities(PUBLIC) | _authorities(COMPANY)


def test_a_bundle_that_was_named_is_handed_in_even_without_anything_new(host: Host) -> None:
    """It was asked for."""
    found = host.find(Path(certifi.where()))
    assert found is not None
    assert (found.extra, found.found) == ((), "suite")


def test_a_home_folder_can_be_abbreviated(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite is shared by people."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.pem").write_bytes(COMPANY)
    assert host.find(Path("~/a.pem")) is not None


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "there is no file"),
        (b"", "holds no PEM certificate"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "holds no PEM certificate"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "cannot be read"),
        (COMPANY + b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "cannot be read"),
    ],
)
@pytest.mark.parametrize("by_suite", [True, False])
def test_a_bundle_that_was_named_and_cannot_be_used_is_an_error(
    host: Host, tmp_path: Path, content: bytes | None, what: str, *, by_suite: bool
) -> None:
    """It says where it was named and what to do."""
    path = tmp_path / "a.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SuiteError, match=what) as caught:
        host.find(path) if by_suite else host.find(environ={HBENCH_VARIABLE: str(path)})
    assert caught.value.where == ("ca_bundle of [network]" if by_suite else HBENCH_VARIABLE)
    assert caught.value.hint


def test_a_broken_block_in_the_hosts_bundle_does_not_reach_a_container(host: Host) -> None:
    """OpenSSL would refuse the whole file."""
    host.trusts(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", COMPANY)
    found = host.find()
    assert found is not None
    assert _authorities(found.pem) == _authorities(PUBLIC) | _authorities(COMPANY)


def _bundle(host: Host, *extra: bytes) -> CaBundle:
    host.trusts(*extra)
    found = host.find()
    assert found is not None
    return found


def test_a_container_gets_the_bundle_and_each_extra_root(host: Host) -> None:
    """The extra ones where `update-ca-certificates` looks for them."""
    bundle = _bundle(host, COMPANY, SECOND)
    files = {entry.name: entry.content for entry in container_files(bundle)}
    assert files[BUNDLE_FILE] == bundle.pem
    assert files["/usr/local/share/ca-certificates/hbench-ca-1.crt"] == COMPANY
    assert files["/usr/local/share/ca-certificates/hbench-ca-2.crt"] == SECOND
    assert all(entry.mode == 0o644 for entry in container_files(bundle))


def test_every_variable_leads_to_a_file_that_is_put_in(host: Host) -> None:
    """A variable for a file that is not there breaks programs that would have worked."""
    bundle = _bundle(host, COMPANY)
    assert container_env(bundle) == dict(VARIABLES)
    assert set(VARIABLES.values()) <= {entry.name for entry in container_files(bundle)}
    assert container_env(None) == {}


def test_the_images_own_bundle_gets_what_it_lacks(host: Host) -> None:
    """Appended once; what it holds already stays as it is."""
    bundle = _bundle(host, COMPANY, SECOND)
    own = PUBLIC + COMPANY.rstrip(b"\n")
    result = merged(own, bundle)
    assert result is not None
    assert result.startswith(own)
    assert _authorities(result) == _authorities(PUBLIC) | _authorities(COMPANY) | _authorities(SECOND)
    assert merged(result, bundle) is None
    assert merged(None, bundle) is None
