package kubelet

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// born holds the birth of the container that this process becomes.
const born = "HYPERSCALE_KUBE_CONTAINER"

// program is where the binary lies in a container, as in deploy/image.
const program = "/hyperscale"

// birth is what a container starts with.
type birth struct {
	Network  string // path of its network namespace
	Hostname string
	Root     string // an empty folder
	Binary   string
	Args     []string
	Env      []string
	Files    map[string]string // by path
	Mounts   []mount
	Writable bool // its root
	User     int
	Group    int
	Groups   []int
}

// mount is a folder of a volume in a container.
type mount struct {
	From     string
	To       string
	ReadOnly bool
}

// Become turns this process into a container if the kubelet has started it for that. TestMain calls it first.
func Become() {
	text := os.Getenv(born)
	if text == "" {
		return
	}
	var b birth
	err := json.Unmarshal([]byte(text), &b)
	if err == nil {
		err = b.become()
	}
	fmt.Fprintln(os.Stderr, "start the container:", err)
	os.Exit(128) // as container engines do
}

// become returns only with an error.
func (b *birth) become() error {
	runtime.LockOSThread() // namespaces and capabilities are those of one thread, and exec keeps that one
	network, err := os.Open(b.Network)
	if err != nil {
		return err
	}
	if err := unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter %s: %w", b.Network, err)
	}
	_ = network.Close() // it was only entered
	if err := unix.Sethostname([]byte(b.Hostname)); err != nil {
		return fmt.Errorf("set hostname %s: %w", b.Hostname, err)
	}
	if err := b.mountAll(); err != nil {
		return err
	}
	if err := unix.Chroot(b.Root); err != nil {
		return fmt.Errorf("chroot %s: %w", b.Root, err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	if err := b.lower(); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", program, syscall.Exec(program, append([]string{program}, b.Args...), b.Env))
}

// mountAll makes the root: the binary, files of the kubelet, /proc, /dev/null and volumes.
func (b *birth) mountAll() error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("tmpfs", b.Root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("mount the root: %w", err)
	}
	for path, text := range b.Files {
		if err := b.file(path, text); err != nil {
			return err
		}
	}
	if err := b.bindFile(b.Binary, program, true); err != nil {
		return err
	}
	if err := b.bindFile("/dev/null", "/dev/null", false); err != nil {
		return err
	}
	proc := filepath.Join(b.Root, "proc")
	if err := os.Mkdir(proc, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("proc", proc, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	for _, m := range b.Mounts {
		if err := os.MkdirAll(filepath.Join(b.Root, m.To), 0o755); err != nil {
			return err
		}
		if err := b.bind(m.From, m.To, m.ReadOnly); err != nil {
			return err
		}
	}
	if b.Writable {
		return nil
	}
	return unix.Mount("", b.Root, "", unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "")
}

func (b *birth) file(path, text string) error {
	to := filepath.Join(b.Root, path)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, []byte(text), 0o644)
}

func (b *birth) bindFile(from, to string, readOnly bool) error {
	if err := b.file(to, ""); err != nil {
		return err
	}
	return b.bind(from, to, readOnly)
}

func (b *birth) bind(from, to string, readOnly bool) error {
	to = filepath.Join(b.Root, to)
	if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s at %s: %w", from, to, err)
	}
	if !readOnly {
		return nil
	}
	if err := unix.Mount("", to, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("make %s read-only: %w", to, err)
	}
	return nil
}

// lower drops all capabilities and becomes the container's user.
func (b *birth) lower() error {
	for capability := uintptr(0); capability <= unix.CAP_LAST_CAP; capability++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil && err != unix.EINVAL {
			return fmt.Errorf("drop capability %d: %w", capability, err)
		}
	}
	if err := syscall.Setgroups(b.Groups); err != nil {
		return fmt.Errorf("set groups %v: %w", b.Groups, err)
	}
	if err := syscall.Setresgid(b.Group, b.Group, b.Group); err != nil {
		return fmt.Errorf("set group %d: %w", b.Group, err)
	}
	if err := syscall.Setresuid(b.User, b.User, b.User); err != nil {
		return fmt.Errorf("set user %d: %w", b.User, err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	return nil
}
