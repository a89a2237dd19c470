package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/protocol/hostile/hostiletest"
	"hyperscale/runtime/report"
)

// uploads sends a file that does not travel: as a body, and drawn from a list by a function.
const uploads = `
target = param("target", default = "http://127.0.0.1:1", help = "server under test")
version = param("version", default = "1.1", help = "of HTTP")
big = file("big.bin")
all = file.glob("up/*")
def drawn(vu):
    return vu.http.post(target + "/up", body = vu.random.choice(all))
workflow(
    name = "uploads", vus = 3, iterations = 6, timeout = "30s", http = http.client(version = version),
    steps = [step("whole", http.post(target + "/up", body = big)), step(drawn)],
)
`

// sparse makes a file without the disk that it seems to take. It begins with its name.
func sparse(t *testing.T, path string, bytes int64) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err == nil {
		_, err = f.WriteString(filepath.Base(path))
	}
	if err == nil {
		err = f.Truncate(bytes)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// uploaded checks that a target got n requests of so many bytes each, to the byte.
func uploaded(t *testing.T, url string, r *report.Result, n int, size int64) {
	t.Helper()
	arrived(t, url, r)
	head := fmt.Sprintf("POST /up HTTP/1.1\r\nHost: %s\r\nUser-Agent: hyperscale\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n", strings.TrimPrefix(url, "http://"), size)
	s, want := stats(t, url), uint64(n)*uint64(int64(len(head))+size)
	if s.Requests != uint64(n) || s.Statuses["200"] != uint64(n) || len(s.Statuses) != 1 || s.BytesIn != want || r.Totals.BytesOut != want {
		t.Errorf("%d uploads of %d bytes: the target counts %+v, the run %+v, want %d bytes", n, size, s, r.Totals, want)
	}
}

// TestUploads: files of any size arrive whole; the target and the run count the same bytes.
func TestUploads(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{1_000_000, 64 << 20} {
		file := write(t, "uploads.star", uploads)
		sparse(t, filepath.Join(filepath.Dir(file), "big.bin"), size)
		sparse(t, filepath.Join(filepath.Dir(file), "up", "a.bin"), size)
		sparse(t, filepath.Join(filepath.Dir(file), "up", "b.bin"), size)
		for _, version := range []string{"1.1", "2"} {
			url := serveTarget(t)
			out := filepath.Join(t.TempDir(), "result.json")
			run(t, command.ExitGood, "run", file, "--set", "target="+url, "--set", "version="+version, "--cores", "2", "--ui", "none", "--out", "json="+out)
			if r := readResult(t, out); version == "1.1" {
				uploaded(t, url, r, 12, size)
			} else if s := stats(t, url); s.Requests != 12 || s.Statuses["200"] != 12 || s.BytesIn < uint64(12*size) || s.BytesIn > uint64(12*size)*101/100 {
				t.Errorf("12 uploads of %d bytes over HTTP/2: %+v", size, s)
			}
		}
	}
	debugs(t)
}

// debugs shows a request with the length of its file.
func debugs(t *testing.T) {
	t.Helper()
	file := write(t, "uploads.star", uploads)
	sparse(t, filepath.Join(filepath.Dir(file), "big.bin"), 1_000_000)
	sparse(t, filepath.Join(filepath.Dir(file), "up", "a.bin"), 3)
	url := serveTarget(t)
	p := run(t, command.ExitGood, "run", file, "--debug", "--set", "target="+url)
	for _, want := range []string{"Content-Length: 1000000", "<a file of 1000000 bytes>", "Content-Length: 3", "<a file of 3 bytes>"} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("it does not show %q:\n%s", want, p.out.String())
		}
	}
}

// TestUploadsOfACluster: a worker sends the file of its folder, if that is the submitted one.
func TestUploadsOfACluster(t *testing.T) {
	t.Parallel()
	const size = 5_000_000
	file := write(t, "uploads.star", uploads)
	for _, name := range []string{"big.bin", "up/a.bin", "up/b.bin"} {
		sparse(t, filepath.Join(filepath.Dir(file), name), size)
	}
	c := &cluster{t: t, dir: t.TempDir(), admins: map[string]string{}}
	c.startGate(hostiletest.FreeAddress(t))
	c.gateAddr = c.gate.await(upLine)
	c.startManager(hostiletest.FreeAddress(t))
	c.managerAddr = c.manager.await(upLine)
	feeds := t.TempDir()
	c.node("worker", "worker-1", "127.0.0.1:0", "--datacenter", "here", "--managers", c.managerAddr, "--cores", "1", "--feeds", feeds)
	c.cores(1)
	url := serveTarget(t)
	submit := func(code int) (*process, string) {
		out := filepath.Join(t.TempDir(), "result.json")
		return run(t, code, "submit", file, "--gate", c.gateAddr, "--set", "target="+url, "--wait", "--ui", "none", "--out", "json="+out), out
	}
	refused := func(want string) {
		t.Helper()
		if p, _ := submit(command.ExitFailed); !strings.Contains(strings.Join(strings.Fields(p.out.String()), " "), want) {
			t.Errorf("it does not say %q:\n%s", want, p.out.String())
		}
	}
	refused(`file "big.bin" does not travel with its program`)
	for _, name := range []string{"big.bin", "up/a.bin", "up/b.bin"} {
		sparse(t, filepath.Join(feeds, name), size)
	}
	if err := os.WriteFile(filepath.Join(feeds, "up/b.bin"), bytes.Repeat([]byte{1}, size), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(`file "up/b.bin" is another file here than where it was submitted`)
	sparse(t, filepath.Join(feeds, "up/b.bin"), size)
	if s := stats(t, url); s.Requests != 0 {
		t.Errorf("%d requests were sent without their file", s.Requests)
	}
	_, out := submit(command.ExitGood)
	uploaded(t, url, readResult(t, out), 12, size)
}

// TestFilesAreRefused: validate names what cannot be sent.
func TestFilesAreRefused(t *testing.T) {
	t.Parallel()
	file := write(t, "uploads.star", uploads)
	folder := filepath.Dir(file)
	says := func(want string) {
		t.Helper()
		run(t, command.ExitUsage, "validate", file).says(regexp.QuoteMeta(want))
	}
	says(`the program has no file "big.bin"`)
	sparse(t, filepath.Join(folder, "big.bin"), 1_000_000)
	says(`no file below the folder of uploads.star has a name like "up/*"`)
	sparse(t, filepath.Join(folder, "up", "a.bin"), 1_000_000)
	run(t, command.ExitGood, "validate", file)
	if err := os.Symlink("a.bin", filepath.Join(folder, "up", "inside.bin")); err != nil {
		t.Fatal(err)
	}
	run(t, command.ExitGood, "validate", file)
	if err := os.Symlink("/proc/self/status", filepath.Join(folder, "up", "outside.bin")); err != nil {
		t.Fatal(err)
	}
	says(`"up/outside.bin" is a link that leads out of the folder, or nowhere`)
	for _, name := range []string{"up/outside.bin", "big.bin"} {
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/proc/self/status", filepath.Join(folder, "big.bin")); err != nil {
		t.Fatal(err)
	}
	says(`file: "big.bin" leads out of the folder ` + folder)
}
