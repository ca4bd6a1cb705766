"""Reports of fictitious machines as the programs write them, with names that would be markup."""

HOSTILE = """</title><script>alert(1)</script>&amp;"'><img src=x onerror=y>"""
HEAD = {
    "machine": "Xeon, 16 cores, " + HOSTILE,
    "gpu": "H200 " + HOSTILE,
    "driver": "13.0",
    "date": "2026-11-21T00:00:00Z",
    "commit": "abc",
    "warpseal": "0.1.0",
    "openssl": "OpenSSL 3",
    "cpu": "Xeon",
    "cores": 16,
    "system": HOSTILE,
    "repetitions": 7,
    "gpu_compute_capability": 90,
    "gpu_multiprocessors": 132,
    "gpu_clock_megahertz": 1980,
    "gpu_memory_bytes": 150 << 30,
    "gpu_memory_bytes_per_second": 4917 * 10**9,
    "gpu_shared_bytes_per_block": 232448,
}


def row(cipher, mode, figure, **more):
    return {
        "cipher": cipher,
        "mode": mode,
        "operation": "encrypt",
        "device": "cuda",
        "place": "device",
        "threads": 1,
        "bytes": 1 << 30,
        "message_bytes": 1 << 30,
        "gigabytes_per_second": figure,
        "openssl_gigabytes_per_second": None,
        "ratio": None,
        "repetitions": [0.99 * figure, figure, 1.01 * figure],
        **more,
    }


def yardstick(name, version, rate, **more):
    return {
        "name": name,
        "version": version,
        "cipher": "CAMELLIA256-xts",
        "gigabytes_per_second": rate,
        "ratio": 7.5 / rate,
        "repetitions": [rate, 0.9 * rate, 1.1 * rate],
        **more,
    }


def bounded(cipher, mode, figure, bound, **more):
    return row(
        cipher, mode, figure, bound_gigabytes_per_second=bound, bound="112 lookups a block", **more
    )


def measurements():
    """With bounds, without, beside OpenSSL, by size, and one noisy figure."""
    rows = [bounded("aes-128", "ctr", 900.0, 1200.0), bounded("aes-256", "ecb", 600.0, 750.0)]
    rows += [row(HOSTILE, "ctr", 50.0, gpus=1, data_unit_bytes=4096, checked_against="portable")]
    rows += [bounded("aes-128", "ctr", 48.5, 50.5, place="host")]
    rows += [
        row(
            "aes-256",
            "gcm",
            figure,
            device="vaes512",
            place="host",
            threads=16,
            bytes=65536,
            message_bytes=65536,
            operation=operation,
            buffer_per_thread=True,
            openssl_gigabytes_per_second=figure / 2.5,
            openssl_repetitions=[figure / 2.5] * 3,
            ratio=2.5,
            openssl_yardstick="aes-256-ecb",
            repetitions=[0.8 * figure, figure, figure] if operation == "seal" else [figure] * 3,
        )
        for operation, figure in (("seal", 180.0), ("open", 0.0123))
    ]
    rows.append(
        row(
            "camellia-256",
            "xts",
            7.5,
            device="vaes512",
            place="host",
            bytes=65536,
            message_bytes=65536,
            openssl_gigabytes_per_second=0.25,
            openssl_repetitions=[0.25] * 3,
            ratio=5.0,
            repetitions=[7.5] * 3,
            best="libgcrypt",
            yardsticks=[
                yardstick("openssl", "3.0.19", 0.25, ecb_instead=False),
                yardstick("libgcrypt", "1.11.0", 1.5),
                {"name": "botan", "not_run": "Botan cannot be loaded: " + HOSTILE},
            ],
        )
    )
    sizes = [
        row("aes-128", "ctr", 0.01 * 3**i, bytes=1024 * 4**i, message_bytes=1024 * 4**i, **place)
        for i in range(11)
        for place in ({}, {"place": "host"}, {"place": "host", "device": "vaes512", "threads": 16})
    ]
    return {"head": HEAD, "rows": rows, "sizes": sizes}


def ladder():
    steps = [
        {
            "step": f"step {i} {HOSTILE}",
            "paper": "P1" if i == 0 else None,
            "cipher": "aes-128",
            "mode": "ecb",
            "keystream_only": i == 1,
            "product": i == 3,
            "what": "a table " + HOSTILE,
            "taught": HOSTILE,
            "gigabytes_per_second": figure,
            "not_run": None if figure else "too many threads",
            "registers": 40,
            "local_bytes": 0,
            "shared_bytes": 4096,
            "threads_per_block": 256,
        }
        for i, figure in enumerate((12.5, 300.25, None, 894.0))
    ]
    steps += [
        {
            "step": f"ntru {i} {HOSTILE}",
            "paper": "P4",
            "set": "ntruhps4096821",
            "operation": "encapsulate",
            "product": False,
            "what": "a block",
            "taught": "",
            "operations_per_second": figure,
            "not_run": None if figure else "out of memory",
        }
        for i, figure in enumerate((1.5e6, None))
    ]
    return {"head": HEAD, "rows": steps}


def papers():
    rows = [
        {
            "paper": paper,
            "table": "t",
            "title": "Throughput " + HOSTILE,
            "row": f"row {i}",
            "unit": "Gbit/s",
            "published": 3.1,
            "published_bound": None,
            "published_on": "8800 GTS",
            "method": method,
            "method_what": "8-bit",
            "default": default,
            "default_what": "aes-128-ecb",
            "ratio": default and default / method,
            "not_run": None if default else "no GPU",
            "differs": HOSTILE,
            "figure": f"{paper} figure {i} {HOSTILE}",
            "better": "higher",
            "published_text": "3.1",
            "scaled": None,
            "scaled_by": 1.0,
            "per_unit": "core and GHz" + HOSTILE,
            "default_per_unit_ratio": default and default / 200,
            "published_units_source": HOSTILE,
            "count": 10000.0,
            "method_over_one_core": 50.5,
            "default_over_one_core": 260.0,
        }
        for paper in ("P1", "P2")
        for i, (method, default) in enumerate(((120.0, 6100.0), (None, None)))
    ]
    return {"head": {**HEAD, "rows_judged": 2}, "rows": rows}


def rates():
    rows = [
        {
            "set": "ntruhps4096821",
            "operation": operation,
            "device": "cuda",
            "place": "device",
            "threads": 1,
            "batch": batch,
            "operations_per_second": 1.27e7 * batch / 64,
            "p50_seconds": 0.001,
            "p99_seconds": 0.002,
            "calls": 10,
            "repetitions": [1e7, 1.27e7, 2e7],
        }
        for batch in (64, 128)
        for operation in ("keygen", "encapsulate")
    ]
    return {"head": {**HEAD, "seconds": 0.5}, "rows": rows}


def auto():
    point = {
        "cipher": "aes-256",
        "mode": "ctr",
        "operation": "encrypt",
        "place": "pinned",
        "bytes": 65536,
        "picked": "vaes512",
        "gigabytes_per_second": 13.534902932672448,
        "best": "cuda",
        "best_gigabytes_per_second": 26.0,
        "ratio": 0.52,
        "good": False,
        "attempts": 3,
        "candidates_gigabytes_per_second": {"cuda": 26.0, "auto": 13.534902932672448},
    }
    return {"head": HEAD, "points": [point], "left_out": 20}


def handshakes():
    rows = [
        {
            "group": group,
            "handshakes": 8000,
            "failures": 0,
            "handshakes_per_second": 1295.0,
            "p50_milliseconds": 46.9,
            "p99_milliseconds": 64.4,
            "server_cpu_microseconds": cpu,
            "server_cpu_ratio": cpu / 388.8,
            "server_cpu_rounds": [cpu - 10, cpu, cpu + 50],
            "key_exchange_microseconds": 159.3,
        }
        for group, cpu in (("X25519", 388.8), (HOSTILE, 279.9))
    ]
    return {"head": {**HEAD, "how": "joined by memory", "in_flight": 64, "rounds": 3}, "rows": rows}


def exchanges():
    row_ = {
        "set": "ntruhps4096821",
        "scenario": "server encapsulates",
        "how": "one call",
        "clients": 100,
        "seconds": 0.00028,
        "exchanges": 100,
        "exchanges_per_second": 355900.0,
        "core_microseconds": 2.8,
        "p50_milliseconds": 1.2,
        "p99_milliseconds": 1.4,
        "mean_batch": 100.0,
        "wrong": 0,
    }
    return {"head": {**HEAD, "outstanding": 32768}, "rows": [row_]}


def lists():
    """Reports whose list has a name of its own."""
    pair = {"gigabytes_per_second": 4.39, "openssl_gigabytes_per_second": 0.097, "ratio": 45.3}
    return [
        {
            "head": HEAD,
            "kem_against_submission": [
                {
                    "set": "ntruhrss701",
                    "operation": "keygen",
                    "device": "avx2",
                    "place": "host",
                    "threads": 1,
                    "batch": 64,
                    "operations_per_second": 36470.0,
                    "yardstick": yardstick,
                    "yardstick_operations_per_second": 26570.0,
                    "ratio": 1.37,
                    "repetitions": [36000, 37000],
                    "yardstick_repetitions": [26000, 27000],
                }
                for yardstick in ("one thread", "two engines")
            ],
        },
        {
            "head": HEAD,
            "round_trips": [
                {
                    "set": "ntruhps2048509",
                    "device": "cuda:0,1",
                    "round_trips": 10**8,
                    "mismatches": 0,
                    "secrets_distinct": 10**8,
                    "seconds": 10.39,
                }
            ],
        },
        {
            "head": {**HEAD, "age": "1.1.1"},
            "file_to_file": [
                {
                    "command": "cp " + HOSTILE,
                    "bytes": 1 << 32,
                    "seconds": 1.535,
                    "times_cp": 1.0,
                    "gigabytes_per_second": 2.798,
                    "peak_memory_bytes": 33259520,
                    "repetitions": [1.65, 1.535, 1.526],
                }
            ],
        },
        files_through_a_gpu(),
        {
            "head": HEAD,
            "openssl_speed": [
                {"case": "aria-128-ctr", "bytes": size, **pair} for size in (64, 1024)
            ],
        },
        {
            "head": HEAD,
            "openssl_keys": [
                {
                    "case": "aes-128-gcm",
                    "bytes": 64,
                    "key": "same key",
                    "nanoseconds": 199.1,
                    "openssl_nanoseconds": 345.6,
                    "ratio": 0.576,
                    "repetitions": [178.7, 199.5],
                    "openssl_repetitions": [338.6, 347.0],
                }
            ],
        },
    ]


def file_path(place, device, threads, figure, **more):
    return {
        "cipher": "aria-256-gcm",
        "operation": "encrypt",
        "format": "warpseal",
        "device": device,
        "threads": threads,
        "place": place,
        "bytes": 1 << 30,
        "seconds": 1.0737 / figure,
        "gigabytes_per_second": figure,
        "repetitions": [0.99 * figure, figure, 1.01 * figure],
        **more,
    }


def files_through_a_gpu():
    """tmpfs where a GPU pays, a disk where it does not, and a cipher that was not run."""
    pays = {"bound_gigabytes_per_second": 12.5, "bound": "plain copy by 16 processes, synced"}
    pays |= {"pays": "yes", "pays_over_threads": [1, 16], "pays_from_bytes": 0}
    lost = {"bound_gigabytes_per_second": 2.0, "bound": "plain copies over the link " + HOSTILE}
    lost |= {"pays": "no", "pays_over_threads": [1], "pays_from_bytes": 3 << 30}
    not_run = file_path("disk", "cpu", 16, 1.0, cipher="des-ede3-ctr", not_run="--budget")
    for key in ("gigabytes_per_second", "seconds", "repetitions"):
        del not_run[key]
    return {
        "head": HEAD,
        "file_paths": [
            file_path("tmpfs", "cuda", 16, 9.25, **pays),
            file_path("tmpfs", "cpu", 16, 7.5),
            file_path("tmpfs", "cpu", 1, 1.25),
            file_path("disk", "cuda", 16, 1.75, **lost),
            file_path("disk", "cpu", 16, 1.875),
            file_path("disk", "cpu", 1, 1.5),
            not_run,
        ],
        "file_copies": [
            {
                "command": "copy by 16 processes",
                "place": "tmpfs",
                "threads": 16,
                "bytes": 1 << 30,
                "seconds": 0.0859,
                "gigabytes_per_second": 12.5,
                "repetitions": [12.5],
            }
        ],
    }


def all_reports():
    return [
        measurements(),
        ladder(),
        papers(),
        rates(),
        auto(),
        handshakes(),
        exchanges(),
        *lists(),
    ]
