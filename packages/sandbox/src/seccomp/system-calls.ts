/** The numbers of one architecture's system calls, as far as the filter names them. */
export interface Architecture {
  /** The kernel's name for it: `AUDIT_ARCH_*` in linux/audit.h. */
  audit: number
  /** Numbers from here on belong to another calling convention (x32); undefined where there is none. */
  foreignFrom: number | undefined
  clone: number
  clone3: number
  /** Answered with ENOSYS as well: the events that wait are counted for the whole machine, and one process may take all of them. */
  ioSetup: number
  unshare: number
  socket: number
  socketpair: number
  fcntl: number
  ioctl: number
  fallocate: number
  /** inotify_add_watch. */
  watch: number
  /** sched_setaffinity. */
  affinity: number
  setsockopt: number
  prctl: number
  seccomp: number
  /** Both are among the refused ones. */
  mount: number
  setns: number
  /** Answered with EPERM. */
  refused: readonly number[]
  /** Calls that give a file its permissions, and which of their arguments has them, from 0 on. */
  modes: ReadonlyArray<readonly [number: number, mode: number]>
  /** Calls that do so only when their flags say that they make a file, and which arguments have flags and permissions. */
  creations: ReadonlyArray<readonly [number: number, flags: number, mode: number]>
}

/**
 * From 424 on, the numbers are the same everywhere: open_tree, move_mount, fsopen, fsconfig,
 * fsmount, fspick, pidfd_getfd, process_madvise, mount_setattr, quotactl_fd, open_tree_attr.
 */
const refusedEverywhere = [428, 429, 430, 431, 432, 433, 438, 440, 442, 443, 467]

/**
 * Answered with ENOSYS on all architectures, so that libraries fall back: io_uring_setup, io_uring_enter,
 * io_uring_register, and openat2, whose permissions are where no filter can read them.
 */
export const unknownEverywhere: readonly number[] = [425, 426, 427, 437]

/** fchmodat2 is the same everywhere. */
const fchmodat2 = [452, 2] as const

/**
 * By the name that Node gives to the architecture. `refused`, in this order: ptrace, process_vm_readv, process_vm_writev,
 * kcmp · mount, umount2, pivot_root, chroot, setns · bpf, perf_event_open, userfaultfd · keyctl, add_key, request_key ·
 * name_to_handle_at, open_by_handle_at · kexec_load, kexec_file_load, init_module, finit_module, delete_module · swapon,
 * swapoff, reboot, acct, quotactl, syslog · clock_settime, settimeofday, adjtimex, clock_adjtime · sethostname,
 * setdomainname, fanotify_init, lookup_dcookie, vhangup, and on x86 iopl, ioperm, modify_ldt.
 */
export const architectures: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    foreignFrom: 0x40000000,
    clone: 56,
    clone3: 435,
    ioSetup: 206,
    unshare: 272,
    socket: 41,
    socketpair: 53,
    fcntl: 72,
    ioctl: 16,
    fallocate: 285,
    watch: 254,
    affinity: 203,
    setsockopt: 54,
    prctl: 157,
    seccomp: 317,
    mount: 165,
    setns: 308,
    refused: [
      101, 310, 311, 312, 165, 166, 155, 161, 308, 321, 298, 323, 250, 248, 249, 303, 304, 246, 320, 175, 313, 176, 167, 168,
      169, 163, 179, 103, 227, 164, 159, 305, 170, 171, 300, 212, 153, 172, 173, 154, ...refusedEverywhere
    ],
    // chmod, fchmod, fchmodat, creat, mkdir, mkdirat, mknod, mknodat; open, openat.
    modes: [[90, 1], [91, 1], [268, 2], fchmodat2, [85, 1], [83, 1], [258, 2], [133, 1], [259, 2]],
    creations: [[2, 1, 2], [257, 2, 3]]
  },
  arm64: {
    audit: 0xc00000b7,
    foreignFrom: undefined,
    clone: 220,
    clone3: 435,
    ioSetup: 0,
    unshare: 97,
    socket: 198,
    socketpair: 199,
    fcntl: 25,
    ioctl: 29,
    fallocate: 47,
    watch: 27,
    affinity: 122,
    setsockopt: 208,
    prctl: 167,
    seccomp: 277,
    mount: 40,
    setns: 268,
    refused: [
      117, 270, 271, 272, 40, 39, 41, 51, 268, 280, 241, 282, 219, 217, 218, 264, 265, 104, 294, 105, 273, 106, 224, 225,
      142, 89, 60, 116, 112, 170, 171, 266, 161, 162, 262, 18, 58, ...refusedEverywhere
    ],
    // fchmod, fchmodat, mkdirat, mknodat; openat.
    modes: [[52, 1], [53, 2], fchmodat2, [34, 2], [33, 2]],
    creations: [[56, 2, 3]]
  }
}
