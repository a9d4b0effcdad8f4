#!/usr/bin/python3
"""
Tries every way out of the sandbox that it knows and prints what it could reach: {"tried": N, "reached": [...]}.

Where it gets through it does no harm: system files are opened and not written, files are made without a name, and system
calls get arguments that can't succeed. It writes only to the files that its argument `outside` names, and plants links
only when `links` is given.
"""
import contextlib
import fcntl
import json
import os
import socket
import stat
import sys

if __package__:
    from . import kernel
else:
    import kernel

tried = 0
reached = []


def attempt(what, action):
    """Notes `what` when the action gets through: when it returns something other than None or False."""
    global tried
    tried += 1
    try:
        result = action()
    except Exception:
        return
    if result is not None and result is not False:
        reached.append(what)


def read(path):
    with open(path, "rb") as file:
        return file.read(1) is not None


def opened_for_writing(path):
    with open(path, "r+b"):
        return True


def service_files(start):
    """Where a service keeps its own: in every directory from here to the root, also under the names that editors leave."""
    directory = os.path.abspath(start)
    while True:
        for name in (".env", ".env.local", ".env~", ".env.swp", ".toolyard", ".toolyard/audit", ".toolyard/redis"):
            yield os.path.join(directory, name)
        if directory == "/":
            return
        directory = os.path.dirname(directory)


def reads(path):
    return bool(os.listdir(path)) if os.path.isdir(path) else read(path)


def interfaces():
    """Whether there is a network beside a loopback of its own."""
    with open("/proc/net/dev", encoding="ascii") as file:
        return any(line.split(":")[0].strip() != "lo" for line in file if ":" in line)


def makes_file_in(directory):
    """A file without a name: it is gone as soon as it is closed."""
    os.close(os.open(directory, os.O_TMPFILE | os.O_WRONLY))
    return True


def write(path):
    with open(path, "wb") as file:
        return file.write(b"hostile") > 0


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        client.connect(address)
        return True


def reaches(name):
    try:
        return connect(socket.AF_UNIX, name)
    except OSError:
        return False


def opened(*args):
    socket.socket(*args).close()
    return True


def opened_pair(*args):
    for end in socket.socketpair(*args):
        end.close()
    return True


def leased(path):
    """Who opens a leased file waits."""
    with open(path, "rb") as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return True


def notified(directory):
    """A signal for each read in the directory (DN_ACCESS)."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.fcntl(descriptor, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
        return True
    finally:
        os.close(descriptor)


def foreign_environments(marker):
    own = {str(os.getpid()), "self", "thread-self"}
    for pid in set(os.listdir("/proc")) - own:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if marker.encode() in file.read():
                    return True
        except OSError:
            continue
    return False


def stray_descriptors(own):
    """`own`: how many a process of its kind has by right, beside the first three."""
    listing = os.open("/proc/self/fd", os.O_RDONLY)
    try:
        return len([fd for fd in os.listdir(listing) if int(fd) > 2 and int(fd) != listing and os.path.exists(f"/proc/self/fd/{fd}")]) > own
    finally:
        os.close(listing)


def gives_rights():
    """Whether a file can be made that runs with the rights of its owner, whoever starts it."""
    for directory in (".", "/tmp"):
        path = os.path.join(directory, "rights")
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o6755))
        with contextlib.suppress(OSError):
            os.chmod(path, 0o6755)
        with contextlib.suppress(OSError):
            given = os.stat(path).st_mode & 0o6000
            os.unlink(path)
            if given:
                return True
    return False


def writes_to_input():
    """Whether the file that the arguments were read from can be written to; others have none."""
    return stat.S_ISREG(os.fstat(0).st_mode) and opened_for_writing("/proc/self/fd/0")


def changed(path):
    """Whether the permissions of a file can be set; to what they are."""
    os.chmod(path, stat.S_IMODE(os.stat(path).st_mode))
    return True


def plant(target):
    """Links for whoever cleans up or reads output afterwards."""
    for directory in (".", "/tmp", "/var/tmp", "/dev/shm", os.environ.get("HOME", "/")):
        try:
            os.symlink(target, os.path.join(directory, "planted"))
            os.symlink(os.path.dirname(target), os.path.join(directory, "planted-directory"))
        except OSError:
            continue


def report(given):
    """Tries everything; `given` has the arguments of the tool."""
    for path in ["/etc/shadow", "/etc/gshadow", "/etc/ssh/ssh_host_ed25519_key", "/proc/kcore", "/sys/kernel", *given.get("secrets", [])]:
        attempt(f"read {path}", lambda: reads(path))
    for path in [*service_files(os.path.dirname(__file__)), *service_files(".")]:
        attempt(f"read {path}", lambda: reads(path))
    attempt("saw a network interface", interfaces)
    for path in given.get("outside", []):
        attempt(f"wrote {path}", lambda: write(path))
    for directory in ("/", "/usr", "/usr/bin", "/etc", "/dev", "/var", "/run", "/boot"):
        attempt(f"made a file in {directory}", lambda: makes_file_in(directory))
    for path in ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname",
                 "/proc/sysrq-trigger", "/etc/passwd", "/proc/1/mem", "/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/vda", "/dev/sda"]:
        attempt(f"opened {path} for writing", lambda: opened_for_writing(path))
    for address in ["169.254.169.254:80", "[fd00:ec2::254]:80", *given.get("tcp", [])]:
        host, port = address.rsplit(":", 1)
        family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
        attempt(f"connected to {address}", lambda: connect(family, (host.strip("[]"), int(port))))
    for path in ["/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", *given.get("sockets", [])]:
        # libuv fills an abstract name with zeros up to the end of the address.
        names = ["\0" + path[1:], ("\0" + path[1:]).ljust(108, "\0")] if path.startswith("@") else [path]
        attempt(f"connected to {path}", lambda: any(reaches(name) for name in names))
    for name, family, kind in (("unix", 1, 1), ("packet", 17, 3), ("alg", 38, 5), ("vsock", 40, 1), ("bluetooth", 31, 3), ("key", 15, 3)):
        attempt(f"opened a socket of the family {name}", lambda: opened(family, kind))
    for name, family, kind in (("unix datagram", 1, 2), ("unix raw", 1, 3), ("TIPC", 30, 2), ("TIPC stream", 30, 1)):
        attempt(f"opened a pair of sockets of the kind {name}", lambda: opened_pair(family, kind))
    attempt("took a lease", lambda: leased(__file__))
    attempt("heard who reads its program", lambda: kernel.hears_readers(os.path.dirname(__file__)))
    attempt("asked for a signal when its program is read", lambda: notified(os.path.dirname(__file__)))
    attempt("read the environment of another process", lambda: foreign_environments(given.get("marker", "TOOLYARD")) or None)
    attempt("saw foreign processes", lambda: len([pid for pid in os.listdir("/proc") if pid.isdigit()]) > 3)
    attempt("signalled a foreign process", lambda: os.kill(os.getppid(), 0) is None if os.getppid() not in (0, 1) else None)
    attempt("inherited descriptors", lambda: stray_descriptors(given.get("descriptors", 0)))
    attempt("has capabilities", lambda: int(kernel.status("CapEff"), 16) + int(kernel.status("CapBnd"), 16) + int(kernel.status("CapPrm"), 16) > 0)
    attempt("may gain privileges", lambda: kernel.status("NoNewPrivs") != "1")
    attempt("may dump core", lambda: __import__("resource").getrlimit(4)[1] != 0)
    attempt("unshared a user namespace", lambda: kernel.in_child(lambda: kernel.call("unshare", kernel.CLONE_NEWUSER)))
    attempt("unshared a network", lambda: kernel.in_child(lambda: kernel.call("unshare", kernel.CLONE_NEWNET)))
    attempt("unshared mounts", lambda: kernel.in_child(lambda: kernel.call("unshare", kernel.CLONE_NEWNS)))
    attempt("cloned into a user namespace", kernel.cloned_user)
    attempt("entered a namespace", lambda: kernel.call("setns", 0, 0))
    attempt("mounted", lambda: kernel.call("mount", b"none", b"/nonexistent", b"tmpfs", 0, 0))
    attempt("unmounted", lambda: kernel.call("umount2", b"/nonexistent", 0))
    for name in ("chroot", "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "name_to_handle_at", "process_vm_readv",
                 "kexec_load", "init_module", "finit_module", "io_uring_setup", "open_tree", "fsopen", "pidfd_getfd", "reboot", "syslog"):
        attempt(f"called {name}", lambda: kernel.call(name, 0, 0, 0, -1, 0, 0))
    attempt("called ptrace", lambda: kernel.in_child(lambda: kernel.call("ptrace", 0, 0, 0, 0)))
    attempt("gave a file the rights of its owner", gives_rights)
    attempt("wrote to its input", writes_to_input)
    attempt("took disk by its input", kernel.grows_input)
    attempt("left an attribute on its input", lambda: os.setxattr("/proc/self/fd/0", "user.left", b"1") is None)
    for path in ("/proc/self/fd/0", "/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"):
        attempt(f"changed {path}", lambda: changed(path))
    if "links" in given:
        plant(given["links"])
    return {"tried": tried, "reached": reached}


if __name__ == "__main__":
    json.dump(report(json.load(sys.stdin)), sys.stdout)
