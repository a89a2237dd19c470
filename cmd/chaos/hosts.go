package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// own is the address of this process, which asks nodes for their metrics.
const own = 1

// prepare gives this process a private /proc and a private place for names of namespaces.
func prepare() error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := os.MkdirAll("/run/netns", 0o755); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", "/run/netns", "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("mount /run/netns: %w", err)
	}
	return nil
}

// addHost makes a namespace with one device, whose packets go to the fabric.
func (f *fabric) addHost(name string, host byte) error {
	if err := ip("netns", "add", name); err != nil {
		return err
	}
	device, err := openIn(filepath.Join("/run/netns", name))
	if err != nil {
		return fmt.Errorf("host %s: %w", name, err)
	}
	for _, args := range [][]string{
		{"-n", name, "link", "set", "lo", "up"},
		{"-n", name, "addr", "add", address(host) + "/24", "dev", deviceName},
		{"-n", name, "link", "set", deviceName, "up"},
	} {
		if err := ip(args...); err != nil {
			return err
		}
	}
	f.attach(host, device)
	return nil
}

// addSelf gives this process an address in the same network.
func (f *fabric) addSelf() error {
	device, err := tun()
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"link", "set", "lo", "up"},
		{"addr", "add", address(own) + "/24", "dev", deviceName},
		{"link", "set", deviceName, "up"},
	} {
		if err := ip(args...); err != nil {
			return err
		}
	}
	f.attach(own, device)
	return nil
}

const deviceName = "chaos0"

// openIn makes a device in the namespace of a path.
func openIn(path string) (*os.File, error) {
	type result struct {
		file *os.File
		err  error
	}
	done := make(chan result)
	go func() {
		// The thread is in the other namespace for good: it is not unlocked, and ends
		// with this goroutine.
		runtime.LockOSThread()
		ns, err := os.Open(path)
		if err != nil {
			done <- result{nil, err}
			return
		}
		defer func() { _ = ns.Close() }() // it was only entered
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- result{nil, fmt.Errorf("enter: %w", err)}
			return
		}
		file, err := tun()
		done <- result{file, err}
	}()
	r := <-done
	return r.file, r.err
}

// tun makes a device in the namespace of this thread.
func tun() (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/net/tun: %w", err)
	}
	request, err := unix.NewIfreq(deviceName)
	if err != nil {
		return nil, err
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		return nil, fmt.Errorf("make a TUN device: %w", err)
	}
	return os.NewFile(uintptr(fd), "tun"), nil
}

func removeHost(name string) { _ = ip("netns", "del", name) } // gone with this process at the latest

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
