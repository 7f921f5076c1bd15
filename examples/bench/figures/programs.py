# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the programs: the sources on the machine with gswo-cc, the binaries on the machine with the
GPU."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

from .cases import CASES
from .sources import Filter

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
HOST_FLAGS = ["-std=c++20", "-O3", "-ffp-contract=off", "-w"]
CUDA_FLAGS = ["-std=c++20", "-O3", "-fmad=false", "--expt-relaxed-constexpr", "-w"]
# GCC 12's default is older than CUDA 13 supports.
GCC_OPENACC = ["-fopenacc", "-foffload=nvptx-none", "-foffload-options=nvptx-none=-misa=sm_80",
               "-foffload-options=-lm", "-fno-math-errno", "-no-pie"]
PACKED = "openacc.tar.xz"


def cores():
    return len(os.sched_getaffinity(0))


def in_parallel(work, items):
    with concurrent.futures.ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(work, items))


def find_translator(given):
    """gswo-cc as given, from PATH, or from a build folder in the repository."""
    found = given or shutil.which("gswo-cc") or next(map(str, ROOT.glob("*/gswo/gswo-cc")), None)
    if not found:
        raise SystemExit("gswo-cc was not found; build it, or give its path with --gswo-cc")
    return found


def write_sources(folder, wanted, translator, shared, double):
    """The sources of all programs and the headers they include, not yet compiled.
    @param shared  the cases that are also translated without tiles in shared memory
    @param double  whether all is computed in double precision"""
    for name in (p.name for p in HERE.iterdir() if p.suffix in (".h", ".cpp", ".cu")):
        shutil.copy(HERE / name, folder)
    for path in (ROOT / "kernels/gswo").glob("gswo_*.h"):
        shutil.copy(path, folder)
    filters = {}
    for case in wanted:
        if case.filter not in filters:
            is_loop = case in CASES["loops"]
            path = ROOT / "examples/gswo" / ("loops" if is_loop else "") / f"{case.filter}.cpp"
            filters[case.filter] = Filter(case.filter, path.read_text(), double, is_loop)
            (folder / f"{case.filter}.cpp").write_text(filters[case.filter].text)

    def translate(job):
        case, name, options = job
        source = folder / f"{case.filter}.cpp"
        text = filters[case.filter].cuda(translator, str(source), case.window, options)
        (folder / f"{name}.cu").write_text(text)

    programs = {case.program: case for case in wanted}
    in_parallel(translate, [(case, name, ()) for name, case in programs.items()] +
                [(case, f"{case.program}_untiled", ("--no-tiles",)) for case in shared])
    for name, source in filters.items():
        (folder / f"{name}_sequential.cpp").write_text(source.sequential())
        (folder / f"{name}_openmp.cpp").write_text(source.openmp())
        (folder / f"{name}_openacc.cpp").write_text(source.openacc())
    return programs


class Compiler:
    """A compile command for programs of one form, or the reason why there is none."""

    def __init__(self, command=None, why=""):
        self.command, self.why = command, why

    @property
    def label(self):
        """The first line of its version."""
        first = subprocess.run([self.command[0], "--version"], capture_output=True,
                               text=True).stdout
        lines = [line for line in first.splitlines() if line.strip()]
        return (lines or [self.command[0]])[-1 if "nvcc" in self.command[0] else 0]

    def compile(self, source, program, window=0):
        """@return an error, or an empty string"""
        words = [*self.command, f"-DFIGURES_WINDOW={window}", str(source), "-o", str(program)]
        done = subprocess.run(words, capture_output=True, text=True)
        return "" if done.returncode == 0 else f"{' '.join(words)}\n{done.stderr.strip()[-600:]}"


def find_nvcc(arguments, include):
    if arguments.no_cuda:
        return Compiler(why="not wanted")
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        return Compiler(why="no nvcc")
    return Compiler([nvcc, *CUDA_FLAGS, f"-arch={arguments.arch}", *include])


def find_openacc(given, folder):
    """nvc++, or a g++ with an offload compiler for NVIDIA GPUs."""
    if given:
        return Compiler([*given.split(), *HOST_FLAGS, "-lm"]
                        if "nvc++" not in given else given.split())
    if shutil.which("nvc++"):
        return Compiler(["nvc++", "-std=c++20", "-O3", "-acc=gpu", "-gpu=ccnative"])
    gcc = Compiler([os.environ.get("CXX", "g++"), *HOST_FLAGS, *GCC_OPENACC])
    probe = folder / "probe.cpp"
    probe.write_text("int main(int n, char **) {\n  int v[8] = {};\n#pragma acc parallel loop "
                     "copy(v)\n"
                     "  for (int i = 0; i < 8; i++) v[i] = i * n;\n  return v[0];\n}\n")
    failed = gcc.compile(probe, folder / "probe")
    for name in ("probe", "probe.cpp"):
        (folder / name).unlink(missing_ok=True)
    return Compiler(why="no compiler") if failed else gcc


def pack_openacc(folder, programs, compiler, libraries):
    """Compiles the OpenACC programs here and packs them with the libraries they load."""
    built = folder / "openacc"
    built.mkdir()

    def make(case):
        return compiler.compile(folder / f"{case.filter}_openacc.cpp", built / case.program,
                                case.window)

    failures = [e for e in in_parallel(make, programs.values()) if e]
    if libraries:
        for pattern in ("libgomp.so.1", "libgomp-plugin-nvptx.so.1"):
            for path in libraries.glob(pattern):
                shutil.copy(path, built)
    for program in built.iterdir():
        subprocess.run(["strip", str(program)], check=False)
    with tarfile.open(folder / PACKED, "w:xz") as pack:
        pack.add(built, "openacc")
    shutil.rmtree(built)
    return failures


def prepare(folder, wanted, with_openacc, shared, arguments):
    """Everything that the machine with the GPU needs, in a folder to copy there.
    @param with_openacc  the cases that are measured with OpenACC, too
    @param shared  the cases of section 5.3"""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SystemExit(f"{folder} is not empty; choose another folder or empty this one")
    programs = write_sources(folder, wanted, find_translator(arguments.gswo_cc), shared,
                             arguments.double)
    compiler = (Compiler(why="not wanted") if arguments.no_openacc
                else find_openacc(arguments.openacc, folder))
    plan = {"openacc": compiler.why, "programs": sorted(programs), "double": arguments.double,
            "shared": sorted(case.program for case in shared)}
    if compiler.command:
        plan["openacc"] = compiler.label
        compiler.command += ["-I", str(folder)]
        libraries = arguments.openacc_libraries
        names = {case.program for case in with_openacc}
        marked = {name: case for name, case in programs.items() if name in names}
        for failure in pack_openacc(folder, marked, compiler,
                                    libraries and pathlib.Path(libraries)):
            print(f"OpenACC: {failure}")
    (folder / "plan.json").write_text(json.dumps(plan, indent=1) + "\n")
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    print(f"{folder}: {len(programs)} programs, {size / 1e6:.1f} MB; OpenACC: {plan['openacc']}")


class Programs:
    """The compiled programs of a prepared folder."""

    def __init__(self, folder, wanted, with_openacc, arguments):
        plan_file = folder / "plan.json"
        if not plan_file.exists():
            raise SystemExit(f"{folder} has no plan.json; make it with --prepare {folder}")
        plan = json.loads(plan_file.read_text())
        self.folder, self.built = folder, folder / "build"
        shutil.rmtree(self.built, ignore_errors=True)
        self.built.mkdir()
        self.failures = []
        cxx = os.environ.get("CXX", "g++")
        include = ["-I", str(folder)]
        self.compilers = {
            "sequential": Compiler([cxx, *HOST_FLAGS, "-march=native", *include]),
            "openmp": Compiler([cxx, *HOST_FLAGS, "-march=native", "-fopenmp", *include]),
            "cuda": find_nvcc(arguments, include),
            "openacc": Compiler(why="not wanted" if arguments.no_openacc else plan["openacc"]),
        }
        openacc = self.compilers["openacc"]
        packed = (folder / PACKED).exists() and not arguments.no_openacc
        if packed:
            with tarfile.open(folder / PACKED) as pack:
                if hasattr(tarfile, "data_filter"):
                    pack.extractall(self.built, filter="data")
                else:
                    pack.extractall(self.built)
        elif not arguments.no_openacc:
            openacc = self.compilers["openacc"] = find_openacc(arguments.openacc, self.built)
            if openacc.command:
                openacc.command += include
        # Which compiler made the OpenACC programs, or why there are none.
        self.openacc = openacc.label if openacc.command else openacc.why
        missing = sorted({c.program for c in wanted} - set(plan["programs"]))
        if missing:
            raise SystemExit(f"{folder} was prepared without {', '.join(missing)}")
        programs = {c.program: c for c in wanted}
        names = {case.program for case in with_openacc}
        jobs = [(form, case) for form in self.compilers for name, case in programs.items()
                if form != "openacc" or name in names]
        self.double, self.shared = plan["double"], set(plan["shared"])
        if self.compilers["cuda"].command:
            jobs += [(form, case) for name, case in programs.items() if name in self.shared
                     for form in ("untiled", "window_memory")]
        # The slowest first.
        jobs.sort(key=lambda job: job[0] != "cuda")
        in_parallel(lambda job: self._make(*job), [("picture", None), ("npp", None), *jobs])

    def path(self, form, case):
        if form == "openacc" and (self.built / "openacc").exists():
            return self.built / "openacc" / case.program
        return self.built / f"{case.program}_{form}"

    def _make(self, form, case):
        if form == "picture":
            self._run_compiler(self.compilers["sequential"], self.folder / "picture.cpp",
                               self.built / "picture")
        elif form == "npp":
            if self.compilers["cuda"].command:
                self._run_compiler(self.compilers["cuda"], self.folder / "npp.cu",
                                   self.built / "npp")
        elif form == "untiled":
            self._run_compiler(self.compilers["cuda"],
                               self.folder / f"{case.program}_untiled.cu", self.path(form, case))
        elif form == "window_memory":
            pixel = "double" if self.double else "unsigned short"
            compiler = Compiler([*self.compilers["cuda"].command, f"-DFIGURES_TYPE={pixel}",
                                 f"-DFIGURES_{case.filter.upper()}"])
            self._run_compiler(compiler, self.folder / "window_memory.cu", self.path(form, case),
                               case.window)
        elif self.compilers[form].command:
            source = f"{case.program}.cu" if form == "cuda" else f"{case.filter}_{form}.cpp"
            self._run_compiler(self.compilers[form], self.folder / source, self.path(form, case),
                               case.window)

    def _run_compiler(self, compiler, source, program, window=0):
        failure = compiler.compile(source, program, window)
        if failure:
            self.failures.append(failure)

    def cpu_name(self):
        info = pathlib.Path("/proc/cpuinfo")
        names = re.findall(r"model name\s*:\s*(.*)", info.read_text()) if info.exists() else []
        return names[0] if names else "unknown CPU"
