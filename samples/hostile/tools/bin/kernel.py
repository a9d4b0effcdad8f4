"""What a hostile program asks of the kernel itself: system calls by their numbers, and what it says of the own process."""
import ctypes
import errno
import os
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER, CLONE_NEWNET, CLONE_NEWNS = 0x10000000, 0x40000000, 0x00020000
# Numbers of system calls by machine; from 424 on they are the same everywhere.
NUMBERS = {
    "x86_64": {"ptrace": 101, "process_vm_readv": 310, "mount": 165, "umount2": 166, "chroot": 161, "setns": 308, "bpf": 321,
               "perf_event_open": 298, "userfaultfd": 323, "keyctl": 250, "add_key": 248, "request_key": 249,
               "name_to_handle_at": 303, "kexec_load": 246, "init_module": 175, "finit_module": 313, "clone": 56, "reboot": 169,
               "unshare": 272, "syslog": 103},
    "aarch64": {"ptrace": 117, "process_vm_readv": 270, "mount": 40, "umount2": 39, "chroot": 51, "setns": 268, "bpf": 280,
                "perf_event_open": 241, "userfaultfd": 282, "keyctl": 219, "add_key": 217, "request_key": 218,
                "name_to_handle_at": 264, "kexec_load": 104, "init_module": 105, "finit_module": 273, "clone": 220, "reboot": 142,
                "unshare": 97, "syslog": 116},
}.get(platform.machine(), {})
REFUSALS = {errno.EPERM, errno.ENOSYS, errno.EACCES}


def call(name, *args):
    """True unless the kernel refuses the system call as such; bad arguments are no refusal."""
    number = NUMBERS.get(name, {"io_uring_setup": 425, "open_tree": 428, "fsopen": 430, "pidfd_getfd": 438}.get(name))
    if number is None:
        return None
    result = LIBC.syscall(ctypes.c_long(number), *args)
    return result >= 0 or ctypes.get_errno() not in REFUSALS


def in_child(action):
    """Runs the action in a child of its own, which it may ruin."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if action() else 1)
        except BaseException:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def cloned_user():
    """The flags go with SIGCHLD; a child that comes to be ends at once."""
    pid = LIBC.syscall(ctypes.c_long(NUMBERS["clone"]), ctypes.c_ulong(CLONE_NEWUSER | 17), 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return pid > 0


def grows_input():
    """Takes room on the disk that no limit of a file's size bounds (FALLOC_FL_KEEP_SIZE)."""
    descriptor = os.open("/proc/self/fd/0", os.O_RDWR)
    return LIBC.fallocate(descriptor, 1, ctypes.c_long(0), ctypes.c_long(4096)) == 0


def hears_readers(directory):
    """Whether the kernel tells who opens or reads what all boxes show: which tools run, and when (IN_OPEN, IN_ACCESS, IN_CLOSE_NOWRITE)."""
    descriptor = LIBC.inotify_init1(0)
    if descriptor < 0:
        return None
    try:
        return any(LIBC.inotify_add_watch(descriptor, os.fsencode(directory), mask) >= 0 for mask in (0x1, 0x10, 0x20, 0xfff))
    finally:
        os.close(descriptor)


def status(field):
    with open("/proc/self/status") as file:
        return next(line.split(":")[1].strip() for line in file if line.startswith(field + ":"))
