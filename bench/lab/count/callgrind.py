"""User instructions of a running server, counted by callgrind between two points that we choose."""

import pathlib
import re
import subprocess
import tempfile

from ..process import LabError

START_SECONDS_MAX = 120
# Which of its copies and searches the C library takes depends on the processor, and callgrind counts `rep movsb` as one
# instruction a byte: the ones that every x86-64 has make the count the same on all of them.
PLAIN_PROCESSOR = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-BMI2,-ERMS,-FSRM,-EVEX,-AVX_Fast_Unaligned_Load"}


class Callgrind:
    """Use it in a `with`; `prefix` goes before the server's command, `server` is set once it runs."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="violet-bench-callgrind-")
        self.path = pathlib.Path(self.folder.name)
        out = f"--callgrind-out-file={self.path}/out"
        # Switched on when the server listens: what starting costs is nobody's request.
        self.prefix = ["valgrind", "--tool=callgrind", "--instr-atstart=no", out, f"--vgdb-prefix={self.path}/vgdb"]
        self.environment = PLAIN_PROCESSOR
        self.pid = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def copy_of(self, binary):
        """A copy that valgrind can load: it gives up on some of the debug information of newer compilers."""
        copy = self.path / pathlib.Path(binary).name
        subprocess.run(["strip", "--strip-debug", "-o", str(copy), str(binary)], check=True, timeout=60)
        return str(copy)

    def switch_on(self, pid):
        self.pid = pid
        self._tell("instrumentation", "on")

    def zero(self):
        self._tell("zero")

    def total(self):
        """Instructions since zero()."""
        self._tell("dump")
        dumps = sorted(self.path.glob("out*"), key=lambda path: path.stat().st_mtime_ns)
        found = re.findall(r"^(?:totals|summary): (\d+)", dumps[-1].read_text(errors="replace"), re.MULTILINE) if dumps else []
        if not found:
            raise LabError("callgrind has written no totals")
        for path in dumps[:-1]:
            path.unlink()
        return max(map(int, found))

    def functions(self, share=95):
        """[(instructions, name)] of the newest dump, those that make up `share` percent."""
        dump = max(self.path.glob("out*"), key=lambda path: path.stat().st_mtime_ns)
        command = ["callgrind_annotate", f"--threshold={share}", "--auto=no", str(dump)]
        text = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout
        rows = re.findall(r"^\s*([\d,]+) \([ \d.]+%\)\s+\S*?:(\S.*)$", text, re.MULTILINE)
        return [(int(count.replace(",", "")), re.sub(r" \[\S+\]$", "", name)) for count, name in rows]

    def _tell(self, *words):
        command = ["vgdb", f"--pid={self.pid}", f"--vgdb-prefix={self.path}/vgdb", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            raise LabError(f"vgdb {' '.join(words)}: {(done.stderr or done.stdout).strip()[-200:]}")
