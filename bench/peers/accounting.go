package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

// account is one run against `hyperscale target`, whose own counter is the oracle.
type account struct {
	Version  string
	VUs      int
	Open     bool // else closed
	Hostile  bool // 500, reset and stall, each N-th time
	Stopped  bool // the target stands still for longer than requests are waited for
	Signaled bool // Ctrl-C in the middle
}

func (a account) String() string {
	model := "closed"
	if a.Open {
		model = "open"
	}
	text := fmt.Sprintf("HTTP/%s, %s, %d VUs", a.Version, model, a.VUs)
	for _, also := range []struct {
		is   bool
		text string
	}{{a.Hostile, "hostile"}, {a.Stopped, "stopped"}, {a.Signaled, "Ctrl-C"}} {
		if also.is {
			text += ", " + also.text
		}
	}
	return text
}

// counts are what a result file tells.
type counts struct {
	Started   uint64 `json:"started"`
	Sent      uint64 `json:"sent"`
	OK        uint64 `json:"ok"`
	Failed    uint64 `json:"failed"`
	TimedOut  uint64 `json:"timed_out"`
	Cancelled uint64 `json:"cancelled"`
}

// accounts is every mix of them.
func accounts() (all []account) {
	for _, version := range []string{"1.1", "2"} {
		for _, vus := range []int{1, 7, 64, 500, 2000, 10_000} {
			for _, open := range []bool{false, true} {
				all = append(all, account{Version: version, VUs: vus, Open: open}, account{Version: version, VUs: vus, Open: open, Hostile: true})
			}
			all = append(all, account{Version: version, VUs: vus, Stopped: true}, account{Version: version, VUs: vus, Hostile: true, Signaled: true})
		}
	}
	return all
}

// accounting runs them, briefly, and wants no request to be unaccounted for.
func (b *bench) accounting() error {
	line := func(of string, figures ...any) { // at once, as all of them take minutes
		_, _ = fmt.Fprintf(b.out, "  %-40s", of)
		for _, f := range figures {
			_, _ = fmt.Fprintf(b.out, "%10v", f)
		}
		_, _ = fmt.Fprintln(b.out)
	}
	line("", "started", "sent", "ok", "failed", "timed out", "cancelled", "counted", "apart")
	for _, a := range accounts() {
		began := time.Now()
		n, counted, err := b.accountOf(a)
		b.played(time.Since(began))
		if err != nil {
			return fmt.Errorf("%v: %w", a, err)
		}
		apart := int64(n.Sent) - int64(counted)
		line(a.String(), n.Started, n.Sent, n.OK, n.Failed, n.TimedOut, n.Cancelled, counted, apart)
		b.report.rows([]row{{Experiment: "accounting", Case: a.String(), Client: "hyperscale", Runs: 1, Requests: n.Sent, Failed: n.Failed + n.TimedOut}})
		unknown := int64(n.Started) - int64(n.OK+n.Failed+n.TimedOut+n.Cancelled)
		b.report.judge(verdict{Bar: "accounting", What: a.String() + ": requests that are not accounted for", Want: 0, Got: float64(max(apart, -apart) + max(unknown, -unknown))}, n.Sent > 0)
	}
	return nil
}

// accountOf runs once. The target has settled when its counter stands still.
func (b *bench) accountOf(a account) (counts, uint64, error) {
	args := []string{"target", "--listen", "127.0.0.1:0"}
	if a.Hostile {
		args = append(args, "--error-every", "10", "--close-every", "100", "--stall-every", "1000", "--stall-for", "10s")
	}
	target, url, err := b.target(args)
	if err != nil {
		return counts{}, 0, err
	}
	defer func() {
		_ = target.Process.Kill()
		_ = target.Wait() // says that it was killed
	}()
	more := fmt.Sprintf("timeout = \"1s\", http = http.client(version = %q), ", a.Version)
	if a.Open {
		more += fmt.Sprintf("rate = \"%d/s\", ", min(20*a.VUs, 20_000))
	}
	path, err := ours{b.binary, b.dir}.write("accounting", flow{Name: "accounting", URL: url, VUs: a.VUs, Duration: 2 * time.Second, More: more})
	if err != nil {
		return counts{}, 0, err
	}
	out := filepath.Join(b.dir, "accounting.json")
	run := exec.Command(b.binary, "run", path, "--cores", "1", "--quiet", "--ui", "none", "--out", "json="+out)
	if err := run.Start(); err != nil {
		return counts{}, 0, err
	}
	disturb(a, target.Process, run.Process)
	_ = run.Wait() // its code tells of failed requests, too: the file is what counts
	text, err := os.ReadFile(out)
	if err != nil {
		return counts{}, 0, err
	}
	var told struct {
		Totals counts `json:"totals"`
	}
	if err := errors.Join(json.Unmarshal(text, &told), os.Remove(out)); err != nil {
		return counts{}, 0, err
	}
	counted, err := settled(url)
	return told.Totals, counted, err
}

// disturb does to the two what the account wants.
func disturb(a account, target, run *os.Process) {
	if !a.Stopped && !a.Signaled {
		return
	}
	time.Sleep(1200 * time.Millisecond)
	if a.Signaled {
		_ = run.Signal(syscall.SIGINT) // gone: then the result tells
		return
	}
	_ = target.Signal(syscall.SIGSTOP)
	time.Sleep(1500 * time.Millisecond)
	_ = target.Signal(syscall.SIGCONT)
}

var targetUp = regexp.MustCompile(`(http://\S+) is up`)

// target starts one and returns where it listens.
func (b *bench) target(args []string) (*exec.Cmd, string, error) {
	target := exec.Command(b.binary, args...)
	out, err := target.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := target.Start(); err != nil {
		return nil, "", err
	}
	var text []byte
	piece := make([]byte, 1<<10)
	for err == nil {
		var n int
		n, err = out.Read(piece)
		text = append(text, piece[:n]...)
		if found := targetUp.FindSubmatch(text); found != nil {
			return target, string(found[1]), nil
		}
	}
	_ = target.Process.Kill()
	_ = target.Wait()
	return nil, "", fmt.Errorf("the target did not come up: %w: %s", err, strconv.Quote(string(text)))
}

// settled is the target's counter once it has not moved for a second: what a kernel sends
// again because the target's queue was full comes late.
func settled(url string) (uint64, error) {
	last, still := uint64(0), 0
	for still < 4 {
		answer, err := http.Get(url + "/__stats")
		if err != nil {
			return 0, err
		}
		text, err := io.ReadAll(answer.Body)
		var told struct {
			Requests uint64 `json:"requests"`
		}
		if err := errors.Join(err, answer.Body.Close(), json.Unmarshal(text, &told)); err != nil {
			return 0, err
		}
		if still++; told.Requests != last {
			last, still = told.Requests, 0
		}
		time.Sleep(250 * time.Millisecond)
	}
	return last, nil
}
