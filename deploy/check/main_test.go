package check

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// built is the static binary of the image, as releases have it but for paths; DEPLOY_BINARY names another one to test,
// such as a release's.
var built = os.Getenv("DEPLOY_BINARY")

func TestMain(m *testing.M) {
	_ = os.Setenv("HYPERSCALE_HISTORY", "off") // no test writes into a person's home, and nodes keep none
	folder, err := os.MkdirTemp("", "hyperscale-deploy-")
	if err == nil {
		err = os.Chmod(folder, 0o755) // others run it
	}
	if err == nil && built == "" {
		built = filepath.Join(folder, "hyperscale")
		build := exec.Command("go", "build", "-buildvcs=false", "-tags=node", "-ldflags", "-s -w", "-o", built, "./cmd/hyperscale")
		build.Dir, build.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
		var out []byte
		if out, err = build.CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "build the binary:", err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(folder)
	os.Exit(code)
}

// skip says what is missing, so that a log without it has tested everything.
func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	t.Skip("SKIPPED: " + fmt.Sprintf(format, args...))
}

// need skips a test whose program this machine lacks.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		skip(t, "%s is not installed", program)
	}
	return path
}

// output runs a command, and fails the test with what it said.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out, errors.String())
	}
	return string(out)
}

// within waits until something holds.
func within(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// freePort is an address of loopback that no process has, below the ports that the kernel gives to connections: a free
// one stays free.
func freePort(t *testing.T) string {
	t.Helper()
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}
