"""Stock nginx, with eight workers forked after its provider was loaded, and stock curl, over every
group."""

from nginx import WORKERS, configure, listens, start
from stock import GROUPS, Machine, case, check, check_equal, main, need, wait_until


def curl(machine, group, *more, **options):
    return machine.run("curl", "--silent", "--show-error", "--unix-socket", "socket", "--cacert", "certificate.pem", "--max-time", 20, "--curves",
                       group, "https://localhost/", *more, **options)


@case
def every_group(p):
    with Machine(p) as machine:
        server = start(machine, GROUPS)
        for name, (number, _) in GROUPS.items():
            answer = curl(machine, name)
            check_equal(answer.returncode, 0, f"{name}: {answer.text} {server.said()[-1000:]}")
            check_equal(answer.text.split()[1:], [f"0x{number:04x}", "."], f"{name}: the server's view")
        check(server.poll() is None, f"nginx ended: {server.said()}")


@case
def groups_with_mlkem(p):
    numbers = {"X25519MLKEM768": "0x11ec", "SecP256r1MLKEM768": "0x11eb", "SecP384r1MLKEM1024": "0x11ed", "MLKEM768": "0x0201"}
    with Machine(p, settings="mlkem = always\n") as machine:
        server = start(machine, [*numbers, "X25519"])
        for name, number in numbers.items():
            answer = curl(machine, name)
            check_equal(answer.returncode, 0, f"{name}: {answer.text} {server.said()[-1000:]}")
            check(number in answer.text or name in answer.text, f"{name}: the server's view is {answer.text}")


@case
def every_worker(p):
    """Opens connections at once until each worker has had some: none uses the threads or keys of
    its parent."""
    with Machine(p) as machine:
        server = start(machine, ["x25519_ntru_hps4096821"])
        workers = set()
        for _ in range(40):
            answer = curl(machine, "x25519_ntru_hps4096821", "--parallel", "--parallel-immediate", "--parallel-max", "16",
                          *["https://localhost/"] * 15)
            check_equal(answer.returncode, 0, answer.text + server.said()[-1000:])
            lines = answer.stdout.decode().splitlines()
            check_equal(len(lines), 16, "answers")
            workers.update(line.split()[0] for line in lines)
            if len(workers) == WORKERS:
                break
        check(len(workers) > WORKERS // 2, f"{len(workers)} of {WORKERS} workers had connections")
        check(server.poll() is None, f"nginx ended: {server.said()}")


@case
def reloaded(p):
    """SIGHUP: new workers, with the provider loaded already."""
    with Machine(p) as machine:
        server = start(machine, ["ntru_hps2048509"])
        before = curl(machine, "ntru_hps2048509").text.split()[0]
        configure(p, ["ntru_hps2048509", "ntru_hrss701"])
        machine.ok("nginx", "-s", "reload", *configure(p, ["ntru_hps2048509", "ntru_hrss701"]))
        wait_until(lambda: curl(machine, "ntru_hrss701").returncode == 0, "the new configuration is in force")
        check(curl(machine, "ntru_hrss701").text.split()[0] != before, "a new worker")
        check(server.poll() is None, f"nginx ended: {server.said()}")


@case
def without_the_provider(p):
    with Machine(p) as machine:
        machine.certificate()
        said = machine.run("nginx", "-t", *configure(p, ["ntru_hps4096821"]), environment=machine.without)
        check(said.returncode != 0 and 'SSL_CTX_set1_curves_list("ntru_hps4096821") failed' in said.text, said.text)
        server = machine.start("nginx", *configure(p, ["ntru_hps4096821", "X25519"]))
        wait_until(lambda: listens(p.file("socket")), "nginx listens")
        answer = curl(machine, "ntru_hps4096821", environment=machine.without)
        check_equal(answer.returncode, 59, f"curl's own code for curves that it does not know: {answer.text}")
        check("ntru_hps4096821" in answer.text, answer.text)
        check_equal(curl(machine, "X25519", environment=machine.without).returncode, 0, server.said())


need("openssl", "nginx", "curl")
main()
