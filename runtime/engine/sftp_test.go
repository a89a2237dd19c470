package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/ssh/sshtest"
)

// sftpFile is a workflow with a client h of the server.
func sftpFile(s *sshtest.Server, kind, text string) string {
	return fmt.Sprintf("h = sftp.client(%q, key = %q, host_keys = %q)\n", s.URL(), s.Key(kind), s.KnownHosts("ed25519")) + strings.ReplaceAll(text, "DIR", s.Dir)
}

// askSFTP runs a step so often for each user, and returns its figures.
func askSFTP(t *testing.T, s *sshtest.Server, ask string, vus, each uint64) message.StepStats {
	t.Helper()
	text := fmt.Sprintf("workflow(name = \"test\", vu_iterations = %d, vus = %d, duration = \"60s\", steps = [step(\"ask\", %s)])", each, vus, ask)
	return run(t, context.Background(), Config{Workflow: loadFile(t, "", sftpFile(s, "ed25519", text)), VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
}

func writeFile(t *testing.T, s *sshtest.Server, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// random are bytes that do not repeat.
func random(n int) []byte {
	out := make([]byte, 0, n+32)
	for sum := [32]byte{}; len(out) < n; out = append(out, sum[:]...) {
		sum = sha256.Sum256(sum[:])
	}
	return out[:n]
}

// What a run counts is what sshd logs and what its files are, whatever is done and by however many users.
func TestSFTPCountsAgreeWithTheServer(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, "")
	big := random(1 << 20)
	writeFile(t, s, "small", []byte("hello"))
	writeFile(t, s, "big", big)
	writeFile(t, s, "a\nb\"..", nil)
	for _, tt := range []struct {
		name, ask string
		vus       []uint64
		logged    string // a line for each operation
		moved     uint64
		kind      string // each operation fails so
	}{
		{"get", `sftp.get(h, "DIR/small"), expect = [body_contains("hello")]`, []uint64{16}, "small\" flags READ", 5, ""},
		{"get unread", `sftp.get(h, "DIR/big")`, []uint64{4}, "big\" bytes read 1048576", 1 << 20, ""},
		{"put", `sftp.put(h, "DIR/put", "x" * 100000)`, []uint64{1}, "put\" bytes read 0 written 100000", 100000, ""},
		{"list", `sftp.list(h, "DIR"), expect = [body_contains('"name":"small"'), body_contains('"name":"a\\nb\\".."')]`, []uint64{4}, "opendir \"DIR\"", 0, ""},
		{"stat", `sftp.stat(h, "DIR/big"), expect = [body_contains('"size":1048576')]`, []uint64{1}, "", 0, ""},
		{"missing", `sftp.get(h, "DIR/none")`, []uint64{4}, "sent status No such file", 0, "server NO_SUCH_FILE"},
		{"scp get", `scp.get(h, "DIR/small"), expect = [body_contains("hello")]`, []uint64{4}, "Starting session: command for", 5, ""},
		{"scp put", `scp.put(h, "DIR/it's", "hello")`, []uint64{1}, "Starting session: command for", 5, ""},
		{"scp missing", `scp.get(h, "DIR/none")`, []uint64{1}, "Starting session: command for", 0, "server SCP"},
	} {
		for _, vus := range tt.vus {
			n := 2 * vus
			before := 0
			logged := strings.ReplaceAll(tt.logged, "DIR", s.Dir)
			if tt.logged != "" {
				before = s.Logged(logged)
			}
			got := askSFTP(t, s, tt.ask, vus, 2)
			good := n
			if tt.kind != "" {
				good = 0
			}
			all := measured(got)
			if got.OK != good || got.Started != n || got.Sent != n || kinds(got)[tt.kind] != n-good || len(got.Statuses) > 0 {
				t.Fatalf("%s/%d: ok %d of %d, sent %d: %v %v", tt.name, vus, got.OK, got.Started, got.Sent, got.Errors, got.Statuses)
			}
			if all[plan.MeasureTransferred].Count != n*tt.moved || all[plan.MeasureAuthTime].Times.Count != vus {
				t.Errorf("%s/%d: %d bytes, %d authentications", tt.name, vus, all[plan.MeasureTransferred].Count, all[plan.MeasureAuthTime].Times.Count)
			}
			if tt.logged != "" {
				if has := s.Logged(logged) - before; has != int(n) {
					t.Errorf("%s/%d: the server logs %d of %d", tt.name, vus, has, n)
				}
			}
		}
	}
	for name, want := range map[string][]byte{"put": bytes.Repeat([]byte("x"), 100000), "it's": []byte("hello")} {
		if got, err := os.ReadFile(filepath.Join(s.Dir, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s has %d bytes: %v", name, len(got), err)
		}
	}
}

// Functions do as steps do: what they change is seen, answers are read, and the connection stays.
func TestSFTPInFunctions(t *testing.T) {
	t.Parallel()
	t.Run("sshd", func(t *testing.T) { inFunctions(t, sshtest.Start(t, ""), "Accepted publickey") })
	t.Run("dropbear", func(t *testing.T) { inFunctions(t, sshtest.Dropbear(t), "Pubkey auth succeeded") })
}

// inFunctions does all that functions can with files of a server that logs each connection so.
func inFunctions(t *testing.T, s *sshtest.Server, connected string) {
	t.Helper()
	w := loadFile(t, "", sftpFile(s, "rsa", `
def all(vu):
    for verb in [vu.sftp, vu.scp]:
        r = verb.put(h, "DIR/a", "hello", name = "put")
        if r.code != "OK" or r.status != 200:
            fail("put: %s %s" % (r.code, r.error))
        r = verb.get(h, "DIR/a", name = "get")
        if r.text() != "hello" or len(r.body) != 5:
            fail("get: " + r.text())
    r = vu.sftp.rename(h, "DIR/a", "DIR/b", name = "rename")
    if r.error or vu.sftp.stat(h, "DIR/a", name = "gone").code != "NO_SUCH_FILE":
        fail("rename: " + r.error)
    for mode, shows in [("640", "-rw-r-----"), ("0600", "-rw-------"), ("4755", "urwxr-xr-x")]:
        r = vu.sftp.chmod(h, "DIR/b", mode, name = "chmod")
        if r.error or vu.sftp.stat(h, "DIR/b", name = "stat").json()["mode"] != shows:
            fail("chmod %s: %s %s" % (mode, r.error, vu.sftp.stat(h, "DIR/b", name = "stat").json()))
    r = vu.sftp.mkdir(h, "DIR/f", name = "mkdir")
    if r.error or vu.sftp.mkdir(h, "DIR/f", name = "again").code != "FAILURE" or vu.sftp.mkdir(h, "DIR/g/f", name = "orphan").code != "NO_SUCH_FILE":
        fail("mkdir: " + r.error)
    r = vu.sftp.put(h, "DIR/f/x", "x", name = "put")
    if r.error or vu.sftp.rmdir(h, "DIR/f", name = "full").code != "FAILURE" or vu.sftp.rmdir(h, "DIR/f/x", name = "file").code == "OK":
        fail("rmdir: " + r.error)
    for r in [vu.sftp.remove(h, "DIR/f/x", name = "remove"), vu.sftp.chmod(h, "DIR/f", "700", name = "chmod"), vu.sftp.rmdir(h, "DIR/f", name = "rmdir")]:
        if r.error:
            fail(r.error)
    names = [f["name"] for f in vu.sftp.list(h, "DIR", name = "list").json()]
    if names != ["b"] or vu.sftp.stat(h, "DIR/b", name = "stat").json()["size"] != 5:
        fail("list: %s" % names)
    r = vu.sftp.remove(h, "DIR/b", name = "remove")
    if r.error:
        fail(r.error)
    return r
workflow(name = "test", iterations = 3, vus = 1, duration = "60s", steps = [step("all", all)])`))
	got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second}).Stats
	if got.Steps[0].OK != 3 {
		t.Fatalf("%+v", got.Steps[0].Errors)
	}
	if left, err := os.ReadDir(s.Dir); err != nil || len(left) != 0 {
		t.Errorf("%d files are left: %v", len(left), err)
	}
	if n := s.Logged(connected); n != 2 {
		t.Errorf("%d connections, want one of SFTP and one of SCP", n)
	}
}

// However a run ends, a file that counts as put is there, whole.
func TestSFTPWhenARunBreaks(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, "")
	w := loadFile(t, "", sftpFile(s, "ecdsa", `
def put(vu):
    return vu.sftp.put(h, "DIR/%d-%d" % (vu.id, vu.iteration), "x" * 50000, name = "put")
workflow(name = "test", vus = 4, duration = "60s", steps = [step("put", put)])`))
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for all, _ := os.ReadDir(s.Dir); len(all) < 20; all, _ = os.ReadDir(s.Dir) {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	got := run(t, ctx, Config{Workflow: w, VUs: 4, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
	whole := uint64(0)
	files, err := os.ReadDir(s.Dir)
	for _, f := range files {
		if i, err := f.Info(); err == nil && i.Size() == 50000 {
			whole++
		}
	}
	if err != nil || got.OK > whole || whole > got.OK+got.Cancelled || got.Failed+got.TimedOut > 0 {
		t.Errorf("%d files are whole of %d, %d ok and %d cancelled: %v %v", whole, len(files), got.OK, got.Cancelled, got.Errors, err)
	}
}

// Keys of each type prove the user, those of the server have to be known, and dropbear is another server.
func TestSSHKeys(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) *sshtest.Server{
		"sshd": func(t *testing.T) *sshtest.Server { return sshtest.Start(t, "") }, "dropbear": func(t *testing.T) *sshtest.Server { return sshtest.Dropbear(t) },
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			writeFile(t, s, "small", []byte("hello"))
			for _, tt := range []struct {
				name, key, known string
				kind             string
			}{
				{"ed25519", string(s.Key("ed25519")), string(s.KnownHosts("rsa")), ""},
				{"rsa", string(s.Key("rsa")), string(s.KnownHosts("ecdsa", "ed25519")), ""},
				{"ecdsa", string(s.Key("ecdsa")), string(s.Hashed("ed25519")), ""},
				{"any", string(s.Key("ecdsa")), "any", ""},
				{"changed", string(s.Key("ed25519")), string(s.Changed("ed25519")), "auth"},
				{"revoked", string(s.Key("ed25519")), string(s.KnownHosts("ed25519")) + "@revoked * " + strings.SplitN(string(s.KnownHosts("ed25519")), " ", 2)[1], "auth"},
				{"unknown user's key", string(s.Other("ed25519")), "any", "auth"},
			} {
				for _, verb := range []string{"scp", "sftp"} {
					text := fmt.Sprintf(`h = sftp.client(%q, key = %q, host_keys = %q)
workflow(name = "test", iterations = 1, vus = 1, duration = "60s", steps = [step("ask", %s.get(h, %q), expect = [body_contains("hello")])])`, s.URL(), tt.key, tt.known, verb, s.Dir+"/small")
					if verb == "scp" && tt.name != "any" || verb == "sftp" && name == "dropbear" && tt.name == "revoked" {
						continue
					}
					got := run(t, context.Background(), Config{Workflow: loadFile(t, "", text), VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
					if got.Started != 1 || tt.kind == "" && got.OK != 1 || tt.kind != "" && kinds(got)[tt.kind] != 1 {
						t.Errorf("%s %s: ok %d of %d: %v", verb, tt.name, got.OK, got.Started, got.Errors)
					}
				}
			}
		})
	}
}
