package vendorstest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// programs are those that this process has built: go takes long to find that nothing has changed.
var programs sync.Map // of a name, to func() (string, error)

// program builds a program of bench/vendors once, and returns where it is.
func program(name string) (string, error) {
	once, _ := programs.LoadOrStore(name, sync.OnceValues(func() (string, error) { return build(name) }))
	return once.(func() (string, error))()
}

func build(name string) (string, error) {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..", "..", "..", "..")
	dir := filepath.Join(root, "out", "vendors")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil { // of other packages' tests
		return "", err
	}
	path := filepath.Join(dir, name)
	command := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "./"+name)
	command.Dir = filepath.Join(root, "bench", "vendors")
	command.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -buildvcs=false", "CGO_ENABLED=0")
	if text, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build in bench/vendors: %w: %s", err, text)
	}
	return path, nil
}

// Program builds a program. It skips the test where the module cannot be fetched; in CI it fails.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	path, err := program(name)
	if err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			tb.Fatal(err)
		}
		tb.Skip("SKIPPED: ", err)
	}
	return path
}

// Start starts a program that prints its addresses in one line, and ends it with the test.
func Start(tb testing.TB, name string, args ...string) (addresses []string) {
	tb.Helper()
	cmd := exec.Command(Program(tb, name), args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	in := bufio.NewReader(out)
	line, err := in.ReadString('\n')
	if err != nil {
		tb.Fatalf("%s has ended: %v", name, err)
	}
	go func() { _, _ = io.Copy(io.Discard, in) }() // what it says later
	return strings.Fields(line)
}
