package kafkatest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"hyperscale/runtime/protocol/hostile/authority"
)

// Numbers of requests, for Fault and Slow.
const (
	Produce  = 0
	Metadata = 3

	Fetch       = 1
	ListOffsets = 2

	OffsetCommit    = 8
	FindCoordinator = 10
	JoinGroup       = 11
	Heartbeat       = 12
	SyncGroup       = 14
)

// Cluster is a cluster of brokers that runs.
type Cluster struct {
	tb        testing.TB
	addresses []string
	mu        sync.Mutex // one line is under way at a time
	in        io.WriteCloser
	out       *bufio.Reader
}

// program builds the brokers, and returns where they are.
var program = sync.OnceValues(func() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..", "..", "..", "..")
	dir := filepath.Join(root, "out", "servers")
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
	path := filepath.Join(dir, "kafka")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "./kafka")
	build.Dir = filepath.Join(root, "bench", "servers")
	build.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "CGO_ENABLED=0") // else tests under the race detector build all anew
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build in bench/servers: %w: %s", err, text)
	}
	return path, nil
})

// Start starts brokers. CERT and KEY in an argument are files of its own.
func Start(tb testing.TB, args ...string) *Cluster {
	tb.Helper()
	path, err := program()
	if err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			tb.Fatal(err)
		}
		tb.Skip(err)
	}
	dir := tb.TempDir()
	certificate, key, _ := authority.Files()
	for name, b := range map[string][]byte{"cert.pem": certificate, "key.pem": key} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	given := make([]string, len(args))
	for i := range args {
		given[i] = strings.NewReplacer("CERT", filepath.Join(dir, "cert.pem"), "KEY", filepath.Join(dir, "key.pem")).Replace(args[i])
	}
	cmd := exec.Command(path, given...)
	c := &Cluster{tb: tb}
	if c.in, err = cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
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
	c.out = bufio.NewReader(out)
	c.addresses = strings.Fields(c.line())
	return c
}

func (c *Cluster) line() string {
	c.tb.Helper()
	text, err := c.out.ReadString('\n')
	if err != nil {
		c.tb.Fatal("the brokers have ended:", err)
	}
	return strings.TrimSpace(text)
}

// do has the brokers obey a line, and returns what they say.
func (c *Cluster) do(format string, values ...any) string {
	c.tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := fmt.Fprintf(c.in, format+"\n", values...); err != nil {
		c.tb.Fatal(err)
	}
	return c.line()
}

// Addresses are those of the brokers, in the order of their ids from 0 on.
func (c *Cluster) Addresses() []string { return c.addresses }

// URL names all brokers, and SecureURL does so behind TLS.
func (c *Cluster) URL() string { return "kafka://" + strings.Join(c.addresses, ",") }

// SecureURL names all brokers, behind TLS.
func (c *Cluster) SecureURL() string { return "kafkas://" + strings.Join(c.addresses, ",") }

// End returns how many records a topic has got: the sum of its log end offsets.
func (c *Cluster) End(topic string) uint64 {
	c.tb.Helper()
	return c.number("end %s", topic)
}

// Partitions returns the same of each partition.
func (c *Cluster) Partitions(topic string) (all []uint64) {
	c.tb.Helper()
	for _, w := range strings.Fields(c.do("parts %s", topic)) {
		n, err := strconv.ParseUint(w, 10, 64)
		if err != nil {
			c.tb.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

// Committed returns the sum of what a group has committed of a topic, and Members how many members it has.
func (c *Cluster) Committed(group, topic string) uint64 {
	return c.number("committed %s %s", group, topic)
}

// Members returns how many members a group has.
func (c *Cluster) Members(group string) uint64 { return c.number("members %s", group) }

func (c *Cluster) number(format string, values ...any) uint64 {
	c.tb.Helper()
	n, err := strconv.ParseUint(c.do(format, values...), 10, 64)
	if err != nil {
		c.tb.Fatal(err)
	}
	return n
}

// Evict takes the member that commits next out of its group before that.
func (c *Cluster) Evict() {
	c.tb.Helper()
	c.do("evict")
}

// Move gives a partition another leader.
func (c *Cluster) Move(topic string, partition, broker int) {
	c.tb.Helper()
	c.do("move %s %d %d", topic, partition, broker)
}

// Rehash gives a group another coordinator of several brokers, and returns which.
func (c *Cluster) Rehash(group string) uint64 {
	c.tb.Helper()
	return c.number("rehash %s", group)
}

// Coordinator returns which broker coordinates a group.
func (c *Cluster) Coordinator(group string) uint64 {
	c.tb.Helper()
	return c.number("coordinator %s", group)
}

// Stop ends a broker: others lead its partitions.
func (c *Cluster) Stop(broker int) {
	c.tb.Helper()
	c.do("stop %d", broker)
}

// Fault fails so many requests of an API by a code; below 0: all of them.
func (c *Cluster) Fault(key, code, count int) {
	c.tb.Helper()
	c.do("fault %d %d %d", key, code, count)
}

// Slow answers the next request of an API so many milliseconds later.
func (c *Cluster) Slow(key, millis int) {
	c.tb.Helper()
	c.do("slow %d %d", key, millis)
}

// Read returns the records of a topic as KEY|HEADERS|VALUE, in the order of each partition: a consumer of librdkafka reads them
// to their end.
func (c *Cluster) Read(topic string) (all []string) {
	c.tb.Helper()
	path, err := exec.LookPath("kcat")
	if err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			c.tb.Fatal("kcat is missing: .ci/run installs it")
		}
		c.tb.Skip("kcat is missing")
	}
	out, err := exec.Command(path, "-b", strings.Join(c.addresses, ","), "-C", "-e", "-q", "-t", topic, "-o", "beginning", "-f", "%k|%h|%s\n").Output()
	if err != nil {
		c.tb.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		all = append(all, strings.TrimSuffix(line, "\n"))
	}
	return all
}
