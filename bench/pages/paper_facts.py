"""The five papers: who wrote them, and their drawings."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper, its drawings of data, and its drawings without data of its own."""

    name: str
    authors: str
    title: str
    year: str
    # Figure numbers and subjects of drawings that show measurements.
    data: tuple[tuple[int, str], ...] = ()
    # Figure numbers and subjects of diagrams, formulas and listings.
    diagrams: tuple[tuple[int, str], ...] = ()


PAPERS = (
    Paper(
        "P1",
        "Yongjin Yeom, Yongkuk Cho",
        "High-Speed Implementations of Block Ciphers on Graphics Processing Units Using CUDA "
        "Library",
        "2008",
        diagrams=(
            (1, "arithmetic of GPUs and CPUs by year, copied from another author"),
            (2, "structure of the G80 GPU"),
            (3, "fragment programs and CUDA programs"),
            (4, "data transfers between host, card and GPU"),
        ),
    ),
    Paper(
        "P2",
        "Si-Woo Eum, Min-Ho Song, Sang-Won Kim, Hwa-Jeong Seo",
        "Optimized GPU Implementation of Camellia CTR Mode by Minimizing Bank Conflicts",
        "2025",
        diagrams=(
            (1, "structure of Camellia"),
            (2, "four S-boxes merged into one table"),
            (3, "__byte_perm"),
        ),
    ),
    Paper(
        "P3",
        "Jawad Masood",
        "Protecting data instantly with gKrypt, part 2 (title translated from Japanese)",
        "2012",
        data=(
            (8, "time against input size, GPU and CPU"),
            (9, "the GPU beside the CPU"),
        ),
        diagrams=(
            (1, "input copied to the state"),
            (2, "formula of AddRoundKey"),
            (3, "ShiftRows"),
            (4, "state copied to the output"),
            (5, "order of the inverse transformations"),
            (6, "InvShiftRows"),
            (7, "key schedule on the device"),
        ),
    ),
    Paper(
        "P4",
        "Hyoeun Seong, Yewon Kim, Yongjin Yeom, Ju-Sung Kang",
        "Accelerated Implementation of NTRU on GPU for Efficient Key Exchange in Multi-Client "
        "Environment",
        "2021",
        data=(
            (8, "speed-up of randombytes by threads"),
            (9, "speed-up of Rq-mul by threads"),
            (10, "speed-up of sample-iid by threads"),
            (12, "improvement by number of encapsulations"),
            (13, "improvement by number of decapsulations"),
        ),
        diagrams=(
            (1, "messages of the KEM"),
            (2, "key exchange with many clients"),
            (3, "algorithm 1, decapsulations by blocks"),
            (4, "algorithm 2, polynomial multiplication"),
            (5, "algorithm 3, random bytes"),
            (6, "shared memory and threads that encapsulate"),
            (7, "shared memory and threads that decapsulate"),
            (11, "one kernel and two kernels"),
        ),
    ),
    Paper(
        "P5",
        "Jung-Oh Park, Gi-oug Oh",
        "A Study on Parallel AES Cipher Algorithm based on Multi Processor",
        "year not printed",
        data=(
            (6, "time of serial AES by function"),
            (7, "time of parallel AES by function"),
            (8, "use of the cores by serial AES"),
            (9, "threads created by serial AES"),
            (10, "use of the cores by parallel AES"),
            (11, "threads created by parallel AES"),
        ),
        diagrams=(
            (1, "SubBytes"),
            (2, "ShiftRows"),
            (3, "MixColumns"),
            (4, "AddRoundKey"),
            (5, "idle cores under serial AES"),
        ),
    ),
)
