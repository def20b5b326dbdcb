"""The ways to people: workflows, wheels, image, and the text about them; as far as a machine without a network can check."""

import importlib.metadata
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from lxml import html
from packaging.metadata import Metadata

from absolve import __version__

yaml = pytest.importorskip("yaml")
ROOT: Final = Path(__file__).parents[1]
PROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WORKFLOWS: Final = sorted((ROOT / ".github/workflows").glob("*.yml"))
VERSIONS: Final = [line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", line)]


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return found


def steps(path: Path) -> list[tuple[str, dict[str, Any]]]:
    jobs = read(path)["jobs"]
    return [(name, step) for name, job in jobs.items() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_only_the_rights_that_a_job_needs_and_scripts_of_bash_without_expressions(path: Path) -> None:
    found = read(path)
    assert found["permissions"] == {}
    for name, job in found["jobs"].items():
        assert (path.name, name) == ("release.yml", "publish") or job["permissions"] == {"contents": "read"}
        assert job["timeout-minutes"]
    for _, step in steps(path):
        assert not step.get("uses", "").startswith("actions/checkout@") or step["with"]["persist-credentials"] is False
        assert "run" in step or re.fullmatch(r"[\w-]+/[\w-]+@(?:v\d[\d.]*|release/v1)", step["uses"]), step
        script = step.get("run", "")
        assert "${{" not in script
        if bash := shutil.which("bash"):
            assert subprocess.run([bash, "-n", "-c", script], check=False).returncode == 0, script


def test_a_release_is_published_only_by_its_tag_and_after_everything_is_built() -> None:
    jobs = read(ROOT / ".github/workflows/release.yml")["jobs"]
    publish = jobs.pop("publish")
    assert publish["permissions"] == {"id-token": "write", "attestations": "write"}
    assert sorted(publish["needs"]) == sorted(jobs)
    assert publish["environment"]["name"] == "pypi"
    assert "github.ref_type == 'tag'" in publish["if"]
    uses = [step.get("uses", "") for step in publish["steps"]]
    assert [name.partition("@")[0] for name in uses] == [
        "actions/download-artifact", "actions/attest-build-provenance", "pypa/gh-action-pypi-publish",
    ]  # fmt: skip
    assert not any("password" in str(step) or "secrets." in str(step) for step in publish["steps"])


@pytest.mark.parametrize(("tag", "is_right"), [("v{}", True), ("v{}1", False), ("v", False), ("x{}", False), ("v.*", False)])
def test_a_tag_must_be_the_version_of_the_package(tag: str, *, is_right: bool) -> None:
    (script,) = (step["run"] for _, step in steps(ROOT / ".github/workflows/release.yml") if "TAG" in step.get("env", {}))
    version = __version__
    bash = shutil.which("bash") or pytest.skip("there is no bash")
    done = subprocess.run([bash, "-e", "-c", script], cwd=ROOT, env={"TAG": tag.format(version), "PATH": "/usr/bin:/bin"}, check=False)
    assert (done.returncode == 0) is is_right


def test_wheels_are_built_for_every_version_and_system_that_is_named() -> None:
    settings = PROJECT["tool"]["cibuildwheel"]
    assert settings["build"].split() == [f"cp{version.replace('.', '')}-*" for version in VERSIONS]
    (systems,) = (job["strategy"]["matrix"]["os"] for name, job in read(ROOT / ".github/workflows/release.yml")["jobs"].items() if name == "wheels")
    assert {name.partition("-")[0] for name in systems} == {"ubuntu", "macos", "windows"}
    assert {"ubuntu-24.04-arm", "macos-15-intel"} <= {*systems}
    assert "{project}/.ci/smoke.py compiled" in settings["test-command"]


REPOSITORY: Final = "absolve/absolve"


@pytest.fixture(scope="module")
def metadata() -> Metadata:
    """Return the metadata of the installation, which the build made; install again after a change of README."""
    text = importlib.metadata.distribution("absolve").read_text("METADATA")
    assert text is not None
    return Metadata.from_email(text)


def test_the_metadata_lead_to_one_repository(metadata: Metadata) -> None:
    urls = metadata.project_urls or {}
    assert {*urls} == {"Homepage", "Documentation", "Changelog", "Issues"}
    assert all(f"{url}/".startswith(f"https://github.com/{REPOSITORY}/") for url in urls.values())
    assert (str(metadata.version), metadata.description_content_type) == (__version__, "text/markdown")
    assert metadata.summary
    named = {name for path in (ROOT / "docs").rglob("*.md") for name in re.findall(r"[\w-]+/absolve(?=@v)", path.read_text("utf-8"))}
    assert named == {REPOSITORY}


def test_each_link_of_the_page_on_pypi_leads_to_a_file_of_the_repository(metadata: Metadata) -> None:
    """Render README as PyPI does."""
    markdown = pytest.importorskip("readme_renderer.markdown")
    page = html.fromstring(markdown.render(metadata.description))
    places = {"a": f"https://github.com/{REPOSITORY}/blob/v{__version__}/", "img": f"https://raw.githubusercontent.com/{REPOSITORY}/v{__version__}/"}
    found = [(str(element.tag), element.get("href") or element.get("src") or "") for element in page.iter("a", "img")]
    ours = [(tag, url) for tag, url in found if REPOSITORY in url]
    for tag, url in ours:
        assert url.startswith(places[tag])
        assert (ROOT / url.removeprefix(places[tag]).partition("#")[0]).is_file(), url
    assert [url for tag, url in found if (tag, url) not in ours and not url.startswith(("https://", "#user-content-"))] == []
    relative = [*re.finditer(r"\]\((?!https?:|#)", (ROOT / "README.md").read_text("utf-8"))]
    assert len(ours) == len(relative) > 20, "README itself has relative links"


def test_the_image_runs_the_command_as_a_user_without_rights_and_is_built_only_of_files_that_are_named() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    found = [line.partition(" ")[::2] for line in text.splitlines() if line and not line.startswith("#")]
    final = found[max(place for place, (word, _) in enumerate(found) if word == "FROM") :]
    assert dict(final)["USER"] == "65532:65532"
    assert dict(final)["ENTRYPOINT"] == '["absolve"]'
    assert not [rest for word, rest in final if word == "RUN"], "no compiler and no cache is in it"
    assert {rest.split()[0].rpartition(":")[2] for word, rest in found if word == "FROM"} == {f"{VERSIONS[-1]}-slim-trixie"}
    first, *kept = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert first == "*"
    kept = [line.removeprefix("!") for line in kept if line.startswith("!")]
    assert all((ROOT / name).exists() for name in kept)
    for name in [*re.findall(r"(?<= )\.ci/[\w./]+", text), "setup.py", "src/absolve/__init__.py", *PROJECT["project"]["license-files"]]:
        assert any(f"{name}/".startswith(f"{one}/") for one in kept), name
