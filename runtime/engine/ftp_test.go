package engine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/ftp/ftptest"
)

// ftpClient is a client f of a server in clear.
func ftpClient(s *ftptest.Server) string {
	return fmt.Sprintf("f = ftp.client(%q, password = %q, tls = \"never\")\n", s.URL(), ftptest.Password)
}

// ftpSecure is the same of a server with TLS.
func ftpSecure(s *ftptest.Server, implicit bool, more string) string {
	_, _, ca := authority.Files()
	url := s.URL()
	if implicit {
		url = s.Secure()
	}
	return fmt.Sprintf("f = ftp.client(%q, password = %q, tls = tls(ca = %q%s))\n", url, ftptest.Password, ca, more)
}

// askFTP runs a step so often for each user, and returns its figures.
func askFTP(t *testing.T, client, ask string, vus, each uint64) message.StepStats {
	t.Helper()
	text := fmt.Sprintf("%sworkflow(name = \"test\", vu_iterations = %d, vus = %d, duration = \"60s\", steps = [step(\"ask\", %s)])", client, each, vus, ask)
	return run(t, context.Background(), Config{Workflow: loadFile(t, "", text), VUs: vus, Duration: time.Minute, Timeout: 50 * time.Second}).Stats.Steps[0]
}

func served(t *testing.T, s *ftptest.Server, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// What a run counts is what vsftpd logs and what its files are, whatever is done and by however many users, in
// clear and with TLS whose data connections have to take up the session.
func TestFTPCountsAgreeWithTheServer(t *testing.T) {
	t.Parallel()
	big := random(1 << 20)
	plain, explicit, implicit := ftptest.Start(t, ""), ftptest.StartTLS(t, false, ""), ftptest.StartTLS(t, true, "")
	for name, on := range map[string]struct {
		*ftptest.Server
		client string
		most   uint64
	}{
		"clear": {plain, ftpClient(plain), 64}, "explicit": {explicit, ftpSecure(explicit, false, ""), 64}, "implicit": {implicit, ftpSecure(implicit, true, ""), 1},
		"TLS 1.2": {explicit, ftpSecure(explicit, false, `, max_version = "1.2"`), 4},
	} {
		served(t, on.Server, "small", []byte("hello"))
		served(t, on.Server, "big", big)
		for _, tt := range []struct {
			name, ask string
			vus       []uint64
			way       string
			moved     uint64
			kind      string
		}{
			{"get", `ftp.get(f, "small"), expect = [code("OK"), body_contains("hello")]`, []uint64{1, 64}, "o", 5, ""},
			{"get unread", `ftp.get(f, "big")`, []uint64{4}, "o", 1 << 20, ""},
			{"put", `ftp.put(f, "put", "x" * 1000000)`, []uint64{1}, "i", 1000000, ""},
			{"put nothing", `ftp.put(f, "empty", "")`, []uint64{1}, "i", 0, ""},
			{"list", `ftp.list(f, "."), expect = [body_contains(" big\r\n")]`, []uint64{4}, "", 0, ""},
			{"names", `ftp.list(f, names = True), expect = [body_contains("big\r\n")]`, []uint64{1}, "", 0, ""},
			{"missing", `ftp.get(f, "none")`, []uint64{4}, "o", 0, "server 550"},
		} {
			for _, vus := range tt.vus {
				if vus > on.most {
					continue
				}
				n, good := 2*vus, 2*vus
				if tt.kind != "" {
					good = 0
				}
				before, cutBefore, bytesBefore := on.Files(tt.way)
				began := on.Logged("OK LOGIN")
				got := askFTP(t, on.client, tt.ask, vus, 2)
				all := measured(got)
				if got.OK != good || got.Started != n || got.Sent != n || kinds(got)[tt.kind] != n-good {
					t.Fatalf("%s/%s/%d: ok %d of %d, sent %d: %v", name, tt.name, vus, got.OK, got.Started, got.Sent, got.Errors)
				}
				if tt.way != "" && tt.kind == "" {
					whole, cut, moved := on.Files(tt.way)
					if whole-before != n || cut != cutBefore || moved-bytesBefore != n*tt.moved || all[plan.MeasureTransferred].Count != n*tt.moved {
						t.Errorf("%s/%s/%d: the server logs %d files, %d cut, %d bytes; %d counted", name, tt.name, vus, whole-before, cut, moved-bytesBefore, all[plan.MeasureTransferred].Count)
					}
				}
				if logins := on.Logged("OK LOGIN") - began; logins != vus || all[plan.MeasureDataConnect].Times.Count != n {
					t.Errorf("%s/%s/%d: %d logins, %d data connections", name, tt.name, vus, logins, all[plan.MeasureDataConnect].Times.Count)
				}
			}
		}
		for file, want := range map[string][]byte{"put": bytes.Repeat([]byte("x"), 1000000), "empty": {}} {
			if got, err := os.ReadFile(filepath.Join(on.Dir, file)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s has %d bytes: %v", name, file, len(got), err)
			}
		}
	}
}

// With 500 users each has one control connection, and each file one data connection. vsftpd has a backlog of 32,
// so that users begin one after another.
func TestFTPCountsOf500Users(t *testing.T) {
	t.Parallel()
	s := ftptest.Start(t, "")
	served(t, s, "small", []byte("hello"))
	w := loadFile(t, "", ftpClient(s)+`
def files(vu):
    vu.sleep("%dms" % (1 + vu.id * 5))
    for i in range(3):
        r = vu.ftp.get(f, "small", name = "get")
        if r.text() != "hello" or r.code != "OK" or len(r.body) != 5:
            fail("%s %s" % (r.text(), r.error))
workflow(name = "test", vus = 500, vu_iterations = 1, duration = "60s", steps = [step("files", files)])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 500, Duration: time.Minute, Timeout: 50 * time.Second})
	got := byName(r.Stats.Steps)["get"]
	whole, cut, moved := s.Files("o")
	if got.OK != 1500 || got.Sent != 1500 || whole != 1500 || cut != 0 || moved != 7500 || s.Logged("OK LOGIN") != 500 {
		t.Errorf("ok %d, sent %d of %d: %v; the server logs %d files, %d cut, %d bytes, %d logins: %v", got.OK, got.Sent, got.Started, got.Errors, whole, cut, moved, s.Logged("OK LOGIN"), r.Stats.Steps)
	}
}

// However a run ends, by timeouts and in the middle, the server has sent no less than is good, and no more than
// was asked for.
func TestFTPCountsWhenARunBreaks(t *testing.T) {
	t.Parallel()
	s := ftptest.Start(t, "anon_max_rate=2000000")
	served(t, s, "small", []byte("hello"))
	served(t, s, "big", random(4<<20))
	w := loadFile(t, "", ftpClient(s)+`
workflow(name = "test", vus = 16, duration = "60s", steps = [
	step("get", ftp.get(f, "small")),
	step("slow", ftp.get(f, "big", timeout = "50ms")),
	step("put", ftp.put(f, "put", "x" * 1000)),
])`)
	ctx, cancel := context.WithCancel(context.Background())
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		for range 100 {
			time.Sleep(20 * time.Millisecond)
			if whole, _, _ := s.Files("o"); whole >= 60 {
				break
			}
		}
		cancel()
	}()
	r := run(t, ctx, Config{Workflow: w, VUs: 16, Duration: time.Minute})
	<-asked
	ok, sent := map[string]uint64{}, map[string]uint64{}
	for _, step := range r.Stats.Steps {
		way := map[bool]string{true: "i", false: "o"}[step.Name == "put"]
		ok[way], sent[way] = ok[way]+step.OK, sent[way]+step.Sent
		if step.Started != step.OK+step.Failed+step.TimedOut+step.Cancelled || step.Failed > 0 || step.Name == "slow" && step.TimedOut == 0 {
			t.Errorf("%s: ok %d, timed out %d, cancelled %d of %d: %v", step.Name, step.OK, step.TimedOut, step.Cancelled, step.Started, step.Errors)
		}
	}
	for way := range ok {
		whole, cut, _ := s.Files(way)
		for range 10 {
			time.Sleep(300 * time.Millisecond)
			w, c, _ := s.Files(way)
			if w == whole && c == cut {
				break
			}
			whole, cut = w, c
		}
		if whole < ok[way] || way == "o" && whole+cut > sent[way] {
			t.Errorf("%s: %d are good and %d sent, and the server logs %d and %d cut", way, ok[way], sent[way], whole, cut)
		}
	}
}

// Functions do as steps do, answers are read, and the connection stays. A wrong password, a server without TLS and
// one that another authority vouches for are errors of the operation.
func TestFTPInFunctions(t *testing.T) {
	t.Parallel()
	s, secure := ftptest.Start(t, ""), ftptest.StartTLS(t, false, "")
	w := loadFile(t, "", ftpClient(s)+`
def all(vu):
    name = "a-%d" % vu.id
    for r in [vu.ftp.mkdir(f, name, name = "mkdir"), vu.ftp.put(f, name + "/x", "hello", name = "put"), vu.ftp.rename(f, name + "/x", name + "/y", name = "rename")]:
        if r.code != "OK" or r.status != 200:
            fail("%s %s" % (r.code, r.error))
    r = vu.ftp.get(f, name + "/y", name = "get")
    if r.text() != "hello":
        fail(r.text())
    if vu.ftp.get(f, name + "/x", name = "gone").code != "550" or vu.ftp.mkdir(f, name, name = "gone").code != "550":
        fail("it is there")
    if "y" not in vu.ftp.list(f, name, names = True, name = "list").text():
        fail("it is not listed")
    return vu.ftp.delete(f, name + "/y", name = "delete")
workflow(name = "test", vus = 4, vu_iterations = 1, duration = "60s", steps = [step("all", all)])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute, Timeout: 20 * time.Second})
	steps := byName(r.Stats.Steps)
	for _, name := range []string{"mkdir", "put", "rename", "get", "list", "delete"} {
		if steps[name].OK != 4 {
			t.Errorf("%s: ok %d: %v %v", name, steps[name].OK, steps[name].Errors, r.Stats.Logs)
		}
	}
	if n := s.Logged("OK LOGIN"); n != 4 || kinds(steps["gone"])["server 550"] != 8 {
		t.Errorf("%d logins, %v", n, steps["gone"].Errors)
	}
	for name, tt := range map[string]struct{ client, kind string }{
		"a wrong password":  {fmt.Sprintf("f = ftp.client(%q, password = \"falsch\", tls = \"never\")\n", s.URL()), "auth"},
		"no TLS":            {fmt.Sprintf("f = ftp.client(%q, password = \"falsch\", tls = \"explicit\")\n", s.URL()), "tls"},
		"TLS is wanted":     {ftpClient(secure), "auth"},
		"another authority": {fmt.Sprintf("f = ftp.client(%q, password = \"falsch\", tls = \"explicit\")\n", secure.URL()), "tls_authority"},
	} {
		if got := askFTP(t, tt.client, `ftp.get(f, "x")`, 1, 1); kinds(got)[tt.kind] != 1 {
			t.Errorf("%s: ok %d: %v", name, got.OK, got.Errors)
		}
	}
}
