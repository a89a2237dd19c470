package kafkatest

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Mock is the mock cluster of librdkafka, which shares no code with kfake, with a consumer of librdkafka
// that reads a topic: both in one kcat.
type Mock struct {
	tb   testing.TB
	url  string
	mu   sync.Mutex
	read []string
}

// StartMock starts a mock cluster of three brokers, and reads a topic.
func StartMock(tb testing.TB, topic string) *Mock {
	tb.Helper()
	path, err := exec.LookPath("kcat")
	if err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			tb.Fatal("kcat is missing: .ci/run installs it")
		}
		tb.Skip("kcat is missing")
	}
	cmd := exec.Command(path, "-b", "replaced:1", "-X", "test.mock.num.brokers=3", "-d", "mock", "-C", "-u", "-t", topic, "-o", "beginning", "-f", "%k|%h|%s\n")
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	m := &Mock{tb: tb}
	found := make(chan string, 1)
	var readers sync.WaitGroup
	readers.Go(func() {
		defer close(found)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if _, servers, is := strings.Cut(lines.Text(), " bootstrap.servers="); is {
				found <- servers
			}
		}
	})
	readers.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			m.mu.Lock()
			m.read = append(m.read, lines.Text())
			m.mu.Unlock()
		}
	})
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		readers.Wait()
		_ = cmd.Wait() // it was killed
	})
	select {
	case servers := <-found:
		m.url = "kafka://" + servers
	case <-time.After(20 * time.Second):
	}
	if m.url == "" {
		tb.Fatal("kcat tells of no mock cluster")
	}
	return m
}

// URL names all brokers.
func (m *Mock) URL() string { return m.url }

// Write has a producer of librdkafka write so many records in a coding: their keys are its name and a number.
func (m *Mock) Write(topic, coding string, n int) {
	m.tb.Helper()
	cmd := exec.Command("kcat", "-b", strings.TrimPrefix(m.url, "kafka://"), "-P", "-t", topic, "-K", "=", "-z", coding)
	var lines strings.Builder
	for i := range n {
		lines.WriteString(coding + strconv.Itoa(i) + "=" + strings.Repeat("tea ", 50) + "\n")
	}
	cmd.Stdin = strings.NewReader(lines.String())
	if text, err := cmd.CombinedOutput(); err != nil {
		m.tb.Fatalf("%v: %s", err, text)
	}
}

// Read returns the records that have come, as KEY|HEADERS|VALUE, once there are so many, and a moment later
// for those that are too many.
func (m *Mock) Read(n int) []string {
	m.tb.Helper()
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if m.mu.Lock(); len(m.read) >= n {
			m.mu.Unlock()
			time.Sleep(100 * time.Millisecond)
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.read
		}
		m.mu.Unlock()
	}
	m.tb.Fatalf("%d of %d records have come", len(m.read), n)
	return nil
}
