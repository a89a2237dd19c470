package kubelet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// inside says that this process has namespaces of its own.
const inside = "HYPERSCALE_KUBE_INSIDE"

// Enter starts this program again in network, mount and PID namespaces of its own, and ends with its code. In the
// second process it returns. An error says what the machine lacks.
func Enter() error {
	if os.Getenv(inside) != "" {
		return prepare()
	}
	if os.Geteuid() != 0 {
		return errors.New("it makes network namespaces: run it as root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return fmt.Errorf("%w: install iproute2", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	passed := make(chan os.Signal, 1)
	signal.Notify(passed, os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM) // a test that takes too long shows its goroutines
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("make namespaces: %w", err)
	}
	go func() {
		for s := range passed {
			_ = cmd.Process.Signal(s) // it may have ended
		}
	}()
	err = cmd.Wait()
	if bad := (*exec.ExitError)(nil); err != nil && !errors.As(err, &bad) {
		return err
	}
	os.Exit(exitCode(cmd.ProcessState))
	return nil
}

// exitCode is that of a process; 1 if a signal has ended it.
func exitCode(s *os.ProcessState) int {
	if code := s.ExitCode(); code >= 0 {
		return code
	}
	return 1
}

// prepare gives this process its own /proc, names of namespaces, and loopback.
func prepare() error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := os.MkdirAll(namespaces, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", namespaces, "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("mount %s: %w", namespaces, err)
	}
	return ip("link", "set", "lo", "up")
}

// Inside says whether Enter has given this process namespaces of its own.
func Inside() bool { return os.Getenv(inside) != "" }
