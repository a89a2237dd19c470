package host

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hyperscale/core/alert"
	"hyperscale/core/event"
	"hyperscale/core/node"
	"hyperscale/runtime/certs"
	"hyperscale/runtime/outputs/carrier"
)

// A node warns of its certificate from 14 days before its end on, says so when it has ended, and is calm again with a new one.
func TestTheHostWatchesItsCertificate(t *testing.T) {
	now, dir := time.Now(), t.TempDir()
	issuer := issuerOf(t)
	clock := func() time.Time { return now }
	store, err := certs.Open(certify(t, issuer, dir, now.Add(60*24*time.Hour)), certs.Identity{Role: node.RoleToy, Cluster: "c", Environment: "test", Node: "n"}, clock)
	if err != nil {
		t.Fatal(err)
	}
	told := ""
	w := &watch{certs: store, retell: func(id alert.ID, why string) { told = id.String() + ": " + why }}
	at := node.Instant(0)
	want := func(change event.AlertChange, why string) {
		t.Helper()
		var got []event.Alert
		for range 2 { // the alert lasts one look longer than its condition
			at = at.Add(alertsEvery)
			got = append(got, w.look(at)...)
		}
		if change == "" && len(got) == 0 {
			return
		}
		if len(got) != 1 || got[0].Change != change || got[0].Alert != "certificate-expires" || !strings.Contains(got[0].Why, why) {
			t.Fatalf("%+v, want %q because %q", got, change, why)
		}
	}
	want("", "")
	now = now.Add(46*24*time.Hour + time.Hour)
	want(event.AlertRaised, "expires at")
	want("", "")
	if !strings.HasPrefix(told, "certificate-expires: it expires at ") {
		t.Fatalf("the raised alert stands because %q", told)
	}
	now = now.Add(20 * 24 * time.Hour)
	want("", "")
	if !strings.HasPrefix(told, "certificate-expires: it has expired at ") {
		t.Fatalf("the raised alert stands because %q, and the certificate has expired", told)
	}
	certify(t, issuer, dir, now.Add(30*24*time.Hour))
	if err := store.Read(); err != nil {
		t.Fatal(err)
	}
	want(event.AlertCleared, "expires at")
	late := &watch{certs: store}
	now = now.Add(40 * 24 * time.Hour)
	if got := late.look(0); len(got) != 1 || !strings.Contains(got[0].Why, "has expired at") || got[0].Remedy != alert.RuleOf(alert.CertificateExpires).Remedy {
		t.Fatalf("%+v, want an alert of an expired certificate with its remedy", got)
	}
}

// A certificate of a day, renewed in time, raises nothing. Once it is not renewed, the alert has a third of its life.
func TestAShortCertificateIsNoAlert(t *testing.T) {
	now, dir, issuer := time.Now(), t.TempDir(), issuerOf(t)
	store, err := certs.Open(certify(t, issuer, dir, now.Add(24*time.Hour)), certs.Identity{Role: node.RoleToy, Cluster: "c", Environment: "test", Node: "n"}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	w := &watch{certs: store}
	for _, one := range []struct {
		past time.Duration
		want int
	}{{0, 0}, {15 * time.Hour, 0}, {17 * time.Hour, 1}} {
		now = time.Now().Add(one.past)
		if got := w.look(node.Instant(one.past)); len(got) != one.want {
			t.Errorf("%s behind its issue: %+v, want %d", one.past, got, one.want)
		}
	}
}

// A node warns once less than a tenth of its volume is free, is calm again at 12 %, and does not know where it cannot look.
func TestTheHostWatchesItsDisk(t *testing.T) {
	free, failed := uint64(11), error(nil)
	w := &watch{dir: "/data", volume: func(string) (uint64, uint64, error) { return free, 100, failed }}
	at := node.Instant(0)
	after := func(long time.Duration) (all []event.Alert) {
		for end := at.Add(long); at < end; at = at.Add(alertsEvery) {
			all = append(all, w.look(at)...)
		}
		return all
	}
	if got := after(time.Minute); len(got) != 0 {
		t.Fatalf("%+v at 11 %%", got)
	}
	free = 9
	got := after(time.Minute)
	if len(got) != 1 || got[0].Change != event.AlertRaised || got[0].Alert != "disk-low" || got[0].Why != "9 % of the volume of /data are free" || got[0].Remedy == "" {
		t.Fatalf("%+v at 9 %%, want the alert with its remedy", got)
	}
	for _, one := range []struct {
		free uint64
		err  error
	}{{11, nil}, {50, errors.New("gone")}} {
		free, failed = one.free, one.err
		if got := after(time.Minute); len(got) != 0 {
			t.Fatalf("%+v at %d %%, %v: want no change", got, one.free, one.err)
		}
	}
	free, failed = 12, nil
	if got := after(time.Minute); len(got) != 1 || got[0].Change != event.AlertCleared {
		t.Fatalf("%+v at 12 %%, want it cleared", got)
	}
}

// A sink that is behind for 5 minutes is an alert, with its name and why, until it has its rows.
func TestTheHostWatchesSinksThatAreBehind(t *testing.T) {
	all := []carrier.Stats{{Sink: "hook", Behind: time.Minute}, {Sink: "warehouse", Behind: 5*time.Minute - 1, Why: "connection refused"}}
	w := &watch{sinks: func() []carrier.Stats { return all }}
	if got := w.look(node.Instant(alertsEvery)); len(got) != 0 {
		t.Fatalf("%+v: want none yet", got)
	}
	all[1].Behind++
	got := w.look(node.Instant(2 * alertsEvery))
	if len(got) != 1 || got[0].Alert != "sink-behind" || got[0].Change != event.AlertRaised || got[0].Why != "a batch for sink warehouse has waited for 5m0s: connection refused" {
		t.Fatalf("%+v", got)
	}
	all[1].Behind = 0
	got = append(w.look(node.Instant(3*alertsEvery)), w.look(node.Instant(4*alertsEvery))...)
	if len(got) != 1 || got[0].Change != event.AlertCleared {
		t.Fatalf("%+v: want it cleared", got)
	}
}

// Rows that a sink has lost are an alert for ten minutes behind the last one, once.
func TestTheHostWatchesSinksThatLose(t *testing.T) {
	all := []carrier.Stats{{Sink: "hook"}, {Sink: "warehouse"}}
	w := &watch{sinks: func() []carrier.Stats { return all }}
	at := node.Instant(0)
	look := func(times int) (got []event.Alert) {
		for range times {
			at = at.Add(alertsEvery)
			got = append(got, w.look(at)...)
		}
		return got
	}
	if got := look(3); len(got) != 0 {
		t.Fatalf("%+v: want none", got)
	}
	lose := func(s *carrier.Stats, rows uint64) {
		s.LostAt, s.Total.Lost, s.Total.LostRequests = s.LostAt.Add(time.Hour), s.Total.Lost+rows, s.Total.LostRequests+10*rows
	}
	lose(&all[1], 4)
	got := look(100)
	if len(got) != 1 || got[0].Alert != "sink-lost" || got[0].Change != event.AlertRaised || got[0].Why != "sink warehouse (4 rows so far, with 40 requests)" {
		t.Fatalf("%+v", got)
	}
	lose(&all[1], 4)
	if got := look(119); len(got) != 0 {
		t.Fatalf("%+v: it stands already, and for ten minutes more", got)
	}
	if got := look(4); len(got) != 1 || got[0].Change != event.AlertCleared {
		t.Fatalf("%+v: want it cleared", got)
	}
}

// A machine gives a sink up gate.output_timeout after a job's end, and its host hears that from the event alone: it is the same
// alert, once, and says what the job lacks. A sink that has all is none.
func TestTheHostHearsOfSinksThatAreGivenUp(t *testing.T) {
	heard := newWork(node.RoleGate, nil)
	w := &watch{lacks: heard.takeLacks}
	heard.observe(event.SinkEnded{Sink: "hook", Delivered: 9})
	if got := w.look(node.Instant(alertsEvery)); len(got) != 0 {
		t.Fatalf("%+v: want none yet", got)
	}
	for range 2 * lacksMax {
		heard.observe(event.SinkEnded{Sink: "lake", Lost: 7, LostRequests: 200, Failed: "10m0s after the job's end it had not taken all: gate.output_timeout"})
	}
	got := append(w.look(node.Instant(2*alertsEvery)), w.look(node.Instant(3*alertsEvery))...)
	if len(got) != 1 || got[0].Alert != "sink-lost" || got[0].Change != event.AlertRaised {
		t.Fatalf("%+v: want sink-lost, once", got)
	}
	one := "lake (job 00000000000000000000000000 lacks 7 rows there, with 200 requests: 10m0s after the job's end it had not taken all: gate.output_timeout)"
	if want := "sink " + strings.Repeat(one+", ", lacksMax-1) + one; got[0].Why != want {
		t.Fatalf("got %q, want %q", got[0].Why, want)
	}
}

// What the host raises is in the node's log, its metrics and /readyz, in the words of the manual.
func TestAlertsOfTheHostAreSeen(t *testing.T) {
	issuer := issuerOf(t)
	o := options("n", newPinger(""))
	o.Certs = certify(t, issuer, t.TempDir(), time.Now().Add(20*time.Minute))
	n := start(t, o)
	remedy := alert.RuleOf(alert.CertificateExpires).Remedy
	for limit := time.Now().Add(wait); ; time.Sleep(time.Millisecond) { // its first look comes as it starts
		_, why := n.work.ready()
		if strings.Contains(why, remedy) {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("not within %v: the node says %q, want %q in it", wait, why, remedy)
		}
	}
}
