"""nginx and Apache on loopback, with the configuration of a test, in a folder of their own and without rights."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

Command = Callable[[Path, int, str], list[str]]
_TRIES = 100

NGINX = """
worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log; {user}
events {{}}
http {{
    access_log off; default_type text/html;
    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
    {text}
}}
"""
_MODULES = "mpm_event authz_core alias dir mime negotiation rewrite"
APACHE = """
ServerRoot {folder}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {folder}/pid
ErrorLog {folder}/error.log
DefaultRuntimeDir {folder}
Mutex file:{folder}
{user}
{modules}
TypesConfig /dev/null
AddType text/html .html
{text}
"""


def _user() -> str | None:
    """Return the user whose files a server of root reads."""
    return "root" if os.geteuid() == 0 else None


def _nginx(folder: Path, port: int, text: str) -> list[str]:
    user = f"user {_user()};" if _user() else ""
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, user=user, text=text.replace("PORT", f"127.0.0.1:{port}")))
    return ["nginx", "-p", str(folder), "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"]


def _apache(folder: Path, port: int, text: str) -> list[str]:
    modules = "\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in _MODULES.split())
    made = APACHE.format(folder=folder, port=port, user="", modules=modules, text=text.replace("PORT", f"127.0.0.1:{port}"))
    (folder / "apache.conf").write_text(made)
    return ["apache2", "-D", "FOREGROUND", "-f", f"{folder}/apache.conf"]


SERVERS: Mapping[str, Command] = {"nginx": _nginx, "apache2": _apache}


@contextmanager
def running(name: str, folder: Path, text: str) -> Iterator[str]:
    """Yield the URL of a server with this configuration; "PORT" in it is the address that it listens to."""
    search = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])
    program = shutil.which(name, path=search)
    if program is None or (name == "apache2" and not Path("/usr/lib/apache2/modules").is_dir()):
        pytest.skip(f"{name} is not installed")
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    folder.mkdir(parents=True)
    _, *arguments = SERVERS[name](folder, port, text)
    with (folder / "output").open("wb") as output, subprocess.Popen([program, *arguments], stdout=output, stderr=output) as process:
        try:
            _wait(process, port, folder)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def _wait(process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    """Wait until a server takes connections. Fail with what it printed if it ends."""
    for _ in range(_TRIES):
        with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), 1)):
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    error = folder / "error.log"
    pytest.fail((folder / "output").read_text() + (error.read_text() if error.exists() else ""))
