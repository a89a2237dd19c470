package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// user is the image's user and group.
const user = "65532"

// image is the root of a file system with what a container runtime gives: the binary, /proc, /dev/null, and a
// volume at /data.
type image struct{ root, data string }

func newImage(t *testing.T) *image {
	t.Helper()
	if os.Getuid() != 0 {
		skip(t, "it needs root, to change the root of a file system")
	}
	need(t, "unshare")
	need(t, "chroot")
	i := &image{root: t.TempDir(), data: t.TempDir()}
	for _, name := range []string{"proc", "dev", "data"} {
		if err := os.Mkdir(filepath.Join(i.root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(built)
	if err == nil {
		err = os.WriteFile(filepath.Join(i.root, "hyperscale"), text, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(i.root, "dev", "null"), nil, 0o644) // what the device is mounted on
	}
	number, _ := strconv.Atoi(user)
	if err == nil {
		err = os.Chown(i.data, number, number)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := i.command("version").CombinedOutput(); err != nil {
		if strings.Contains(string(out), "unshare failed") {
			skip(t, "this machine gives no mount namespace: %s", out)
		}
		t.Fatalf("version: %v: %s", err, out)
	}
	return i
}

// enter mounts what a runtime mounts, makes the root read-only, proves that it is, and becomes the image's user.
const enter = `set -e
root=$1 data=$2; shift 2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind /dev/null "$root/dev/null"
mount --bind "$data" "$root/data"
mount -o remount,bind,ro "$root"
if touch "$root/written" 2>/dev/null; then echo "the root can be written" >&2; exit 9; fi
exec chroot --userspec=` + user + `:` + user + ` --groups= "$root" /hyperscale "$@"`

// command is a command in the image. Its environment is as empty as a container's.
func (i *image) command(args ...string) *exec.Cmd {
	cmd := exec.Command("unshare", append([]string{"--mount", "--propagation", "private", "sh", "-c", enter, "sh", i.root, i.data}, args...)...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	return cmd
}

// start starts a command that lasts until the test ends.
func (i *image) start(t *testing.T, args ...string) *said {
	t.Helper()
	cmd, out := i.command(args...), &said{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%v said\n%s", args, out)
		}
	})
	return out
}

// said is what a process has said so far.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// result is the part of a result that the test reads.
type result struct {
	Outcome string `json:"outcome"`
}

// TestImage runs a load test, and then a whole cluster, as the image does: a static binary alone on a read-only
// root, as a user without rights.
func TestImage(t *testing.T) {
	i := newImage(t)
	target := i.start(t, "target", "--listen", "127.0.0.1:0")
	var url string
	within(t, time.Minute, "the target is up", func() bool {
		url = regexp.MustCompile(`http://[0-9.:]+`).FindString(target.String())
		return url != ""
	})
	completed := func(name, out string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(i.data, name))
		if err != nil {
			t.Fatal(err)
		}
		var r result
		if err := json.Unmarshal(text, &r); err != nil || r.Outcome != "COMPLETED" {
			t.Fatalf("%s: outcome %q, %v, want COMPLETED: %s", name, r.Outcome, err, out)
		}
	}
	completed("run.json", output(t, i.command("run", url+"/", "--vus", "2", "--duration", "1s", "--cores", "1", "--save", "/data/test.star", "--out", "json=/data/run.json", "--ui", "ci")))

	gate, manager := freePort(t), freePort(t)
	i.start(t, "gate", "--id=gate-1", "--listen="+gate, "--gates="+gate, "--data=/data/gate")
	i.start(t, "manager", "--id=manager-1", "--listen="+manager, "--managers="+manager, "--gates="+gate, "--datacenter=here", "--data=/data/manager")
	i.start(t, "worker", "--id=worker-1", "--listen="+freePort(t), "--managers="+manager, "--datacenter=here", "--data=/data/worker", "--cores=1")
	within(t, time.Minute, "the worker's core is free", func() bool {
		out, _ := i.command("datacenters", "--gate="+gate).CombinedOutput() // it fails until the gate is up
		return regexp.MustCompile(`(?m)^here\b.*\b1\b`).Match(out)
	})
	completed("submit.json", output(t, i.command("submit", "/data/test.star", "--gate="+gate, "--wait", "--out", "json=/data/submit.json", "--ui", "ci")))

	var found []string
	entries, err := os.ReadDir(i.root)
	for _, e := range entries {
		found = append(found, e.Name())
	}
	if want := []string{"data", "dev", "hyperscale", "proc"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("the root holds %q, %v, want %q", found, err, want)
	}
}

// mostPull and mostDisk bound the image, in bytes: what is pulled is compressed.
const (
	mostPull = 25 << 20
	mostDisk = 45_000_000
)

// TestBinaryIsSmall bounds the binary, and the methods that the linker keeps: code that calls a method by a name of
// run time, as templates of Go's library do, keeps every exported method of every type, a twelfth of the binary.
func TestBinaryIsSmall(t *testing.T) {
	text, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("on disk %d bytes", len(text))
	if len(text) > mostDisk {
		t.Errorf("the binary has %d bytes, at most %d: make size tells what weighs", len(text), mostDisk)
	}
	if bytes.Contains(text, []byte("text/template.(*state).evalField")) {
		t.Error("the binary executes templates of text/template, so the linker keeps methods that nothing calls: make size tells what reaches them")
	}
}

// TestImageSaysWhereTheSimulatorIs: its binary has no simulator, and says so whatever follows `sim`.
func TestImageSaysWhereTheSimulatorIs(t *testing.T) {
	for _, args := range [][]string{{"sim"}, {"sim", "swarm", "--scenario", "all"}, {"sim", "--help"}} {
		out, err := exec.Command(built, args...).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !bytes.Contains(out, []byte("the whole one, hyperscale-linux-")) {
			t.Errorf("%v: %v, want exit code 2 and the name of the whole binary: %s", args, err, out)
		}
	}
}

// TestImageIsBuilt builds the image twice with buildah: no network, one layer, the same digest.
func TestImageIsBuilt(t *testing.T) {
	need(t, "buildah")
	context, store := t.TempDir(), t.TempDir()
	text, err := os.ReadFile(built)
	if err == nil {
		err = os.WriteFile(filepath.Join(context, "hyperscale-linux-amd64-node"), text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	buildah := func(args ...string) *exec.Cmd {
		return exec.Command("buildah", append([]string{"--root", filepath.Join(store, "root"), "--runroot", filepath.Join(store, "run"), "--storage-driver", "vfs"}, args...)...)
	}
	var digests []string
	for _, tag := range []string{"first", "second"} {
		build := buildah("bud", "--isolation", "chroot", "--timestamp", "0", "--no-cache", "-f", "../image/Dockerfile.binary", "-t", "hyperscale:"+tag, context)
		if out, err := build.CombinedOutput(); err != nil {
			if strings.Contains(string(out), "permission denied") || strings.Contains(string(out), "operation not permitted") {
				skip(t, "buildah may not build here: %s", bytes.TrimSpace(out))
			}
			t.Fatalf("%v: %s", err, out)
		}
		folder := filepath.Join(store, tag)
		output(t, buildah("push", "hyperscale:"+tag, "oci:"+folder+":"+tag))
		digests = append(digests, manifestOf(t, folder))
	}
	if digests[0] != digests[1] {
		t.Errorf("the same binary has two images: %s and %s", digests[0], digests[1])
	}
}

// manifestOf reads an OCI layout, and checks what is in it.
func manifestOf(t *testing.T, folder string) string {
	t.Helper()
	read := func(into any, name ...string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(append([]string{folder}, name...)...))
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	blob := func(digest string) []string {
		return []string{"blobs", "sha256", strings.TrimPrefix(digest, "sha256:")}
	}
	var index struct{ Manifests []struct{ Digest string } }
	read(&index, "index.json")
	var manifest struct {
		Config struct{ Digest string }
		Layers []struct{ Size int64 }
	}
	read(&manifest, blob(index.Manifests[0].Digest)...)
	var config struct {
		Config struct {
			User       string
			Entrypoint []string
		}
	}
	read(&config, blob(manifest.Config.Digest)...)
	if config.Config.User != user+":"+user || !slices.Equal(config.Config.Entrypoint, []string{"/hyperscale"}) {
		t.Errorf("the image runs %q as %q", config.Config.Entrypoint, config.Config.User)
	}
	pull := int64(0)
	for _, l := range manifest.Layers {
		pull += l.Size
	}
	if len(manifest.Layers) != 1 || pull > mostPull {
		t.Errorf("%d layers of %d bytes, want 1 of at most %d", len(manifest.Layers), pull, mostPull)
	}
	t.Logf("pull size %d bytes", pull)
	return index.Manifests[0].Digest
}

// TestDockerfiles compares the two recipes: both end with the same image.
func TestDockerfiles(t *testing.T) {
	var ends []string
	for _, name := range []string{"Dockerfile", "Dockerfile.binary"} {
		text, err := os.ReadFile(filepath.Join("..", "image", name))
		if err != nil {
			t.Fatal(err)
		}
		_, end, found := strings.Cut(string(text), "\nFROM scratch\n")
		if !found {
			t.Fatalf("%s: no stage from scratch", name)
		}
		var lines []string
		for line := range strings.Lines(end) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "ARG ") && !strings.HasPrefix(line, "COPY ") {
				lines = append(lines, line)
			}
		}
		ends = append(ends, strings.Join(lines, "\n"))
	}
	if want := "USER " + user + ":" + user + "\nENTRYPOINT [\"/hyperscale\"]"; ends[0] != want || ends[1] != want {
		t.Errorf("the recipes end with %q, want %q", ends, want)
	}
}
