package check

import (
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	unitFile  = "hyperscale@.service"
	hardening = unitFile + ".d/hardening.conf"
)

// unit is the template with its drop-in, for an instance, in a folder of its own. Words are replaced.
func unit(t *testing.T, replace ...string) string {
	t.Helper()
	folder := t.TempDir()
	name := filepath.Join(folder, "hyperscale@gate-1.service")
	if err := os.Mkdir(name+".d", 0o755); err != nil {
		t.Fatal(err)
	}
	edit := strings.NewReplacer(append([]string{"/usr/local/bin/hyperscale", built}, replace...)...)
	for from, to := range map[string]string{unitFile: name, hardening: name + ".d/hardening.conf"} {
		text, err := os.ReadFile(filepath.Join("..", "systemd", from))
		if err == nil {
			err = os.WriteFile(to, []byte(edit.Replace(string(text))), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// TestUnit: systemd finds no fault in the unit, and finds planted ones.
func TestUnit(t *testing.T) {
	analyze := need(t, "systemd-analyze")
	for _, tt := range []struct{ find, replace, want string }{
		{},
		{"WatchdogSec=30", "WatchdogSek=30", "WatchdogSek"},
		{"Restart=always", "Restart=ever", "service restart specifier"},
		{"Type=notify", "Type=notifies", "service type"},
		{"@system-service ", "@system-services ", "@system-services"},
	} {
		var name string
		if tt.find == "" {
			name = unit(t)
		} else {
			name = unit(t, tt.find, tt.replace)
		}
		cmd := exec.Command(analyze, "verify", "--man=no", "--generators=no", "--recursive-errors=no", name)
		out, err := cmd.CombinedOutput()
		switch {
		case tt.want == "" && (err != nil || len(out) > 0):
			t.Errorf("verify: %v: %s", err, out)
		case tt.want != "" && !strings.Contains(string(out), tt.want):
			t.Errorf("%s: verify says %q, want %q in it", tt.replace, out, tt.want)
		}
	}
}

// mostExposed bounds what systemd calls the exposure of a unit: 0 is best, 10 is worst.
const mostExposed = 1.6

// TestUnitIsConfined compares the exposure of the unit with and without a line of its drop-in.
func TestUnitIsConfined(t *testing.T) {
	analyze := need(t, "systemd-analyze")
	for _, tt := range []struct {
		find string
		most bool // it stays within the bound
	}{{"", true}, {"RestrictNamespaces=yes", false}, {"CapabilityBoundingSet=\n", false}} {
		name := unit(t)
		if tt.find != "" {
			name = unit(t, tt.find, "")
		}
		if exposed := exposure(t, analyze, name); exposed <= mostExposed != tt.most {
			t.Errorf("without %q: exposure %v, want at most %v: %t", tt.find, exposed, mostExposed, tt.most)
		}
	}
}

// exposure is what systemd says of a unit.
func exposure(t *testing.T, analyze, name string) float64 {
	t.Helper()
	out := output(t, exec.Command(analyze, "security", "--offline=true", "--no-pager", name))
	found := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("no exposure in %s", out)
	}
	exposed, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return exposed
}

// TestOwnersAreConfined: with the drop-in for gates and managers the exposure is lower, and the filter allows what a gate
// calls from its start to its end.
func TestOwnersAreConfined(t *testing.T) {
	analyze, strace := need(t, "systemd-analyze"), need(t, "strace")
	var texts []string
	for _, name := range []string{hardening, "owner.conf"} {
		text, err := os.ReadFile(filepath.Join("..", "systemd", name))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if strings.Contains(strings.Join(texts, "\n"), "\nProcSubset=") {
		t.Error("ProcSubset hides somaxconn: a gate listens with a backlog of 128")
	}
	name := unit(t)
	if err := os.WriteFile(filepath.Join(name+".d", "owner.conf"), []byte(texts[1]), 0o644); err != nil {
		t.Fatal(err)
	}
	if exposed := exposure(t, analyze, name); exposed > 1.3 {
		t.Errorf("the exposure of a gate is %v, want at most 1.3", exposed)
	}
	calls := allowed(t, analyze, strings.Join(texts, "\n"))
	if calls["sched_setaffinity"] {
		t.Error("the filter allows sched_setaffinity")
	}
	log, admin := filepath.Join(t.TempDir(), "calls"), freePort(t)
	gate := exec.Command(strace, "-f", "-c", "-o", log, built, "gate", "--id", "gate-1", "--listen", freePort(t), "--admin", admin, "--data", t.TempDir())
	said := &strings.Builder{}
	gate.Stderr = said
	if err := gate.Start(); err != nil {
		t.Fatal(err)
	}
	within(t, time.Minute, "the gate answers", func() bool {
		c, err := net.Dial("tcp", admin)
		if err == nil {
			_ = c.Close()
		}
		return err == nil || gate.Process.Signal(syscall.Signal(0)) != nil
	})
	_ = exec.Command("pkill", "-TERM", "-P", strconv.Itoa(gate.Process.Pid)).Run() // strace passes no signal on
	if err := gate.Wait(); err != nil && strings.Contains(strings.ToLower(said.String()), "ptrace") {
		skip(t, "strace may not trace here: %s", said)
	}
	seen := called(t, log)
	if !slices.Contains(seen, "epoll_ctl") || !slices.Contains(seen, "fdatasync") {
		t.Errorf("the gate made no epoll_ctl or fdatasync: it was no whole one, of %q", seen)
	}
	for _, call := range seen {
		if !calls[call] {
			t.Errorf("%s: the filter denies it", call)
		}
	}
}

// called lists the system calls in a summary of strace.
func called(t *testing.T, log string) (seen []string) {
	t.Helper()
	summary, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(summary)) {
		fields := strings.Fields(line)
		if len(fields) < 5 || fields[0] == "%" || strings.HasPrefix(fields[0], "---") || fields[len(fields)-1] == "total" {
			continue
		}
		seen = append(seen, fields[len(fields)-1])
	}
	return seen
}

// allowed are the system calls that a line of SystemCallFilter names, by what systemd says of its sets.
func allowed(t *testing.T, analyze, text string) map[string]bool {
	t.Helper()
	sets := map[string][]string{}
	set := ""
	for line := range strings.Lines(output(t, exec.Command(analyze, "syscall-filter", "--no-pager"))) {
		switch word := strings.TrimSpace(line); {
		case strings.HasPrefix(line, "@"):
			set = word
		case word != "" && !strings.HasPrefix(word, "#"):
			sets[set] = append(sets[set], word)
		}
	}
	var expand func(name string, into map[string]bool)
	expand = func(name string, into map[string]bool) {
		if !strings.HasPrefix(name, "@") {
			into[name] = true
			return
		}
		if len(sets[name]) == 0 {
			t.Fatalf("systemd has no set %s", name)
		}
		for _, one := range sets[name] {
			expand(one, into)
		}
	}
	all := map[string]bool{}
	for _, filter := range regexp.MustCompile(`(?m)^SystemCallFilter=(.*)$`).FindAllStringSubmatch(text, -1) {
		list, without := strings.CutPrefix(filter[1], "~")
		for _, name := range strings.Fields(list) {
			some := map[string]bool{}
			expand(name, some)
			if without {
				maps.DeleteFunc(all, func(call string, _ bool) bool { return some[call] })
			} else {
				maps.Copy(all, some)
			}
		}
	}
	return all
}

// TestUnitAllowsItsCalls runs a load test on a whole local cluster, executors included, and looks at its system calls: the
// filter of the unit allows each one.
func TestUnitAllowsItsCalls(t *testing.T) {
	analyze, strace := need(t, "systemd-analyze"), need(t, "strace")
	text, err := os.ReadFile(filepath.Join("..", "systemd", hardening))
	if err != nil {
		t.Fatal(err)
	}
	calls, log := allowed(t, analyze, string(text)), filepath.Join(t.TempDir(), "calls")
	target := exec.Command(built, "target", "--listen", freePort(t))
	if err := target.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = target.Process.Signal(syscall.SIGTERM), target.Wait() }()
	url := "http://" + target.Args[3] + "/"
	within(t, time.Minute, "the target is up", func() bool {
		c, err := net.Dial("tcp", target.Args[3])
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	run := exec.Command(strace, "-f", "-c", "-o", log, built, "run", url, "--vus", "2", "--iterations", "20", "--cores", "1", "--executor-sandbox", "auto", "--ui", "ci")
	if out, err := run.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "PTRACE") || strings.Contains(string(out), "ptrace") {
			skip(t, "strace may not trace here: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	seen := called(t, log)
	for _, want := range []string{"epoll_ctl", "sched_setaffinity", "seccomp"} {
		if !slices.Contains(seen, want) {
			t.Errorf("the run made no %s: it was no whole one, of %q", want, seen)
		}
	}
	for _, call := range seen {
		if !calls[call] {
			t.Errorf("%s: the filter of the unit denies it", call)
		}
	}
	without := allowed(t, analyze, string(text)+"\nSystemCallFilter=~@resources\n")
	if without["sched_setaffinity"] {
		t.Error("a filter without @resources allows sched_setaffinity: the sets are read wrongly")
	}
}

// TestUnitHearsANode starts a gate as the unit does, with a socket in systemd's place.
func TestUnitHearsANode(t *testing.T) {
	folder := t.TempDir()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(folder, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	text, err := os.ReadFile(filepath.Join("..", "systemd", unitFile))
	if err != nil {
		t.Fatal(err)
	}
	config, address := filepath.Join(folder, "gate-1.yaml"), freePort(t)
	if err := os.WriteFile(config, []byte("listen: "+address+"\ngates: ["+address+"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(string(text))[1]
	args := strings.Fields(strings.NewReplacer("/usr/local/bin/hyperscale", built, "$ROLE", "gate", "/etc/hyperscale/%i.yaml", config, "/var/lib/hyperscale/%i", filepath.Join(folder, "data"), "%i", "gate-1").Replace(line))
	gate := exec.Command(args[0], args[1:]...)
	said := &said{}
	gate.Stderr = said
	gate.Env = []string{"NOTIFY_SOCKET=" + filepath.Join(folder, "notify"), "WATCHDOG_USEC=300000"}
	if err := gate.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- gate.Wait() }()
	hear := func(what string) {
		t.Helper()
		b := make([]byte, 4096)
		for {
			_ = c.SetReadDeadline(time.Now().Add(time.Minute))
			n, err := c.Read(b)
			if err != nil {
				_ = gate.Process.Kill()
				t.Fatalf("never heard %q: %v\n%s", what, err, said)
			}
			if strings.Contains(string(b[:n]), what) {
				return
			}
		}
	}
	hear("READY=1")
	hear("WATCHDOG=1")
	_ = gate.Process.Signal(syscall.SIGTERM)
	if err := <-ended; err != nil {
		t.Errorf("SIGTERM: %v\n%s", err, said)
	}
}
