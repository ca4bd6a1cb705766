"""Stock nginx with the module under test, on a Unix socket."""

import os
import socket

from stock import check, wait_until

WORKERS = 8
NGINX = """user {user};
worker_processes {workers};
daemon off;
pid {directory}/pid;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy; fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi; scgi_temp_path {directory}/scgi;
    server {{
        listen unix:{directory}/socket ssl;
        ssl_certificate {directory}/certificate.pem;
        ssl_certificate_key {directory}/key.pem;
        ssl_protocols TLSv1.3;
        ssl_ecdh_curve {groups};
        ssl_session_tickets off;
        location / {{ return 200 "$pid $ssl_curves $ssl_session_reused\\n"; }}
    }}
}}
"""


def configure(p, groups):
    user = "root" if os.getuid() == 0 else "nobody"  # the directive applies to root only
    p.write("nginx.conf", NGINX.format(user=user, workers=WORKERS, directory=p.directory, groups=":".join(groups)).encode())
    return ["-e", "stderr", "-p", p.directory, "-c", p.file("nginx.conf")]


def listens(path):
    """True if a connection is accepted there: a socket has its name a moment before."""
    with socket.socket(socket.AF_UNIX) as one:
        return one.connect_ex(path) == 0


def start(machine, groups):
    machine.certificate()
    server = machine.start("nginx", *configure(machine.p, groups))
    wait_until(lambda: listens(machine.p.file("socket")) or server.poll() is not None, "nginx listens")
    check(server.poll() is None, f"nginx ended: {server.said()}")
    return server
