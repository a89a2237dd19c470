package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/smtp/smtptest"
)

// askMail runs a step of SMTP so many times, and returns its figures.
func askMail(t *testing.T, client, ask string, vus, n uint64) message.StepStats {
	t.Helper()
	w := loadFile(t, "", fmt.Sprintf("s = smtp.client(%s)\nworkflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\", %s, steps = [step(\"ask\", smtp.send(s, %s)])", client, n, vus, anyTLS, ask))
	return run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
}

// What a run counts is what the server has accepted, with PIPELINING and without.
func TestMailCountsAreTheServers(t *testing.T) {
	t.Parallel()
	s := smtptest.Start(t)
	for name, tt := range map[string]struct {
		ask            string
		vus            []uint64
		taken, refused uint64 // recipients of a message
		kind           string
	}{
		"one":          {`sender = "a@x.test", to = "b@y.test", subject = "hi", body = "hello"), expect = [code("OK")]`, []uint64{1, 64, 500}, 1, 0, ""},
		"ten":          {`sender = "a@x.test", to = ["b%d@y.test" % i for i in range(10)], body = "hello\n.\n"), expect = [body_contains("\"accepted\":10")]`, []uint64{1, 64}, 10, 0, ""},
		"one of three": {`sender = "", to = ["b@y.test", "b@z.test", "c@y.test"], body = "hello"), expect = [body_contains("5.1.1 no such user")]`, []uint64{1, 64}, 2, 1, ""},
		"none":         {`sender = "a@x.test", to = ["b@z.test", "c@z.test"], body = "hello")`, []uint64{1, 64}, 0, 2, "server 550"},
		"refused":      {`sender = "a@x.test", to = "b@y.test", headers = {"X-Refuse": "1"})`, []uint64{1}, 1, 0, "server 552"},
	} {
		for i, url := range []string{s.URL(), s.PlainURL()} {
			for _, vus := range tt.vus {
				if i > 0 && vus > 64 {
					continue
				}
				before, n := s.Counts(), 2*vus
				got := askMail(t, fmt.Sprintf("%q", url), tt.ask, vus, n)
				after, all := s.Counts(), measured(got)
				ok := n
				if tt.kind != "" {
					ok = 0
				}
				if got.OK != ok || got.Started != n || tt.kind != "" && kinds(got)[tt.kind] != n || got.Sent != n && name != "none" {
					t.Fatalf("%s/%d: ok %d of %d, sent %d: %v", name, vus, got.OK, got.Started, got.Sent, got.Errors)
				}
				if after.Messages-before.Messages != ok || tt.kind == "" && after.Recipients-before.Recipients != all[plan.MeasureRecipientsAccepted].Count || after.Connections-before.Connections > vus {
					t.Errorf("%s/%d: the server counts %+v behind %+v", name, vus, after, before)
				}
				if all[plan.MeasureRecipientsAccepted].Count != n*tt.taken || all[plan.MeasureRecipientsRefused].Count != n*tt.refused {
					t.Errorf("%s/%d: %d taken, %d refused", name, vus, all[plan.MeasureRecipientsAccepted].Count, all[plan.MeasureRecipientsRefused].Count)
				}
			}
		}
	}
}

// However a run ends, by timeouts and in the middle, the server has accepted no less than is good, and no more
// than was sent.
func TestMailCountsWhenARunBreaks(t *testing.T) {
	t.Parallel()
	s := smtptest.Start(t)
	w := loadFile(t, s.URL(), `
s = smtp.client("TARGET", per_connection = 7)
workflow(name = "test", vus = 32, duration = "60s", steps = [
	step("ask", smtp.send(s, sender = "a@x.test", to = "b@y.test", body = "hello", timeout = "5s")),
	step("slow", smtp.send(s, sender = "a@x.test", to = "b@y.test", headers = {"X-Slow": "1"}, timeout = "10ms")),
])`)
	ctx, cancel := context.WithCancel(context.Background())
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		for range 100 {
			if time.Sleep(20 * time.Millisecond); s.Counts().Messages >= 300 {
				break
			}
		}
		cancel()
	}()
	r := run(t, ctx, Config{Workflow: w, VUs: 32, Duration: time.Minute})
	<-asked
	var ok, sent uint64
	for _, step := range r.Stats.Steps {
		ok, sent = ok+step.OK, sent+step.Sent
		if step.Started != step.OK+step.Failed+step.TimedOut+step.Cancelled || step.Failed > 0 {
			t.Errorf("%s: ok %d, timed out %d, cancelled %d of %d: %v", step.Name, step.OK, step.TimedOut, step.Cancelled, step.Started, step.Errors)
		}
	}
	settled := s.Counts().Messages
	for range 8 { // those that wait in the server count, too
		time.Sleep(500 * time.Millisecond)
		now := s.Counts().Messages
		if now == settled {
			break
		}
		settled = now
	}
	if settled < ok || settled > sent {
		t.Errorf("%d are good and %d sent, and the server has %d", ok, sent, settled)
	}
}

// Every way to prove a user, by STARTTLS and in TLS from the first byte, and what a server answers to a wrong
// proof.
func TestUsersOfMail(t *testing.T) {
	t.Parallel()
	s := smtptest.Start(t)
	_, _, ca := authority.Files()
	for _, url := range []string{s.StartTLSURL(), s.SecureURL()} {
		for _, word := range []string{"plain", "login", "cram_md5", "xoauth2"} {
			for password, kind := range map[string]string{smtptest.Password: "", "falsch": "auth"} {
				before := s.Counts()
				got := askMail(t, fmt.Sprintf("%q, auth = smtp.%s(%q, %q), tls = tls(ca = %q)", url, word, smtptest.User, password, ca), `sender = "a@x.test", to = "b@y.test", body = "hello")`, 2, 6)
				accepted := s.Counts().Messages - before.Messages
				if kind == "" && (got.OK != 6 || accepted != 6) || kind != "" && (kinds(got)[kind] != 6 || accepted > 0) || strings.Contains(fmt.Sprint(got), password) {
					t.Errorf("%s with %s by %s: ok %d, accepted %d: %v", word, password, url, got.OK, accepted, got.Errors)
				}
			}
		}
	}
	for name, tt := range map[string]struct{ client, kind string }{
		"nothing proves the user": {fmt.Sprintf("%q, starttls = \"required\"", s.StartTLSURL()), "server 530"},
		"no TLS":                  {fmt.Sprintf("%q", s.StartTLSURL()), "server 530"},
		"STARTTLS is not offered": {fmt.Sprintf("%q, starttls = \"required\"", s.URL()), "tls"},
		"a mechanism is not":      {fmt.Sprintf("%q, starttls = \"never\", auth = smtp.cram_md5(\"app\", \"geheim\")", s.URL()), "auth"},
		"another authority":       {fmt.Sprintf("%q, auth = smtp.plain(\"app\", \"geheim\"), tls = tls()", s.StartTLSURL()), "tls_authority"},
	} {
		if got := askMail(t, tt.client, `sender = "a@x.test", to = "b@y.test")`, 1, 1); kinds(got)[tt.kind] != 1 {
			t.Errorf("%s: ok %d: %v", name, got.OK, got.Errors)
		}
	}
}

// A message arrives as it was written, with values in each of its texts, from steps and functions.
func TestMailArrives(t *testing.T) {
	t.Parallel()
	s := smtptest.Start(t)
	w := loadFile(t, s.URL(), `
s = smtp.client("TARGET", per_connection = 1, hello = "load.test")
def again(vu):
    r = vu.smtp.send(s, sender = "a@x.test", to = ["b@y.test", "c@z.test"], subject = "Grüße", body = "Grüße\n.\nEnde", name = "again")
    got = r.json()
    if r.code != "OK" or got["code"] != 250 or got["accepted"] != 1 or got["refused"][0]["recipient"] != "c@z.test" or not got["text"].startswith("2.0.0 queued"):
        fail(r.text())
    r = vu.smtp.send(s, sender = "a@x.test", to = "c@z.test", name = "refused")
    if r.code != "550" or "no such user" not in r.error:
        fail(r.error)
    return r
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [
	step("first", smtp.send(s, sender = "a@x.test", to = "b@y.test"), extract = {"n": json_path("$.code")}),
	step("second", smtp.send(s, sender = "a${n}@x.test", to = "b${n}@y.test", subject = "number ${n}", body = ".${n}\n${n}", headers = {"X-Id": "${n}"})),
	step("again", again),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second})
	steps := byName(r.Stats.Steps)
	if steps["second"].OK != 1 || kinds(steps["refused"])["server 550"] != 1 {
		t.Fatalf("second %v, again %v, refused %v: %v", steps["second"].Errors, steps["again"].Errors, steps["refused"].Errors, r.Stats.Logs)
	}
	for _, want := range []string{"Subject: =?utf-8?B?R3LDvMOfZQ==?=\r\n", "\r\nDate: ", "Message-ID: <", "Content-Transfer-Encoding: base64\r\n\r\nR3LDvMOfZQouCkVuZGU="} {
		if last := s.Last(); !strings.Contains("\r\n"+last, want) {
			t.Errorf("no %q in %q", want, last)
		}
	}
	if c := s.Counts(); c.Connections != 4 || c.Messages != 3 {
		t.Errorf("%+v", c)
	}
}

// Attachments arrive as they were given, by another's parser: texts with values, bytes, small files and those of
// --feeds, under names of every kind, from steps and functions.
func TestAttachmentsArrive(t *testing.T) {
	t.Parallel()
	s := smtptest.Start(t)
	all := make([]byte, 1000)
	for i := range all {
		all[i] = byte(i)
	}
	photo, small := bytes.Repeat(all, 300), []byte("small\r\n.\r\n")
	for name, tt := range map[string]struct {
		step string
		want []string
	}{
		"one of each": {`step("second", smtp.send(s, sender = "a@x.test", to = "b@y.test", subject = "n ${n}", body = "see\n.\n${n}", attachments = {"n.csv": "n\n${n}\n", "é \"a\".bin": hex.decode("00ff0d0a2e"), "empty.txt": "", "small.JPG": file("up/small.jpg"), "photo": photos[0]}))`, []string{
			"n 250", "text/plain None None 11 " + sha("see\r\n.\r\n250"),
			"text/csv attachment n.csv 6 " + sha("n\n250\n"), "application/octet-stream attachment é \"a\".bin 5 " + sha("\x00\xff\r\n."),
			"text/plain attachment empty.txt 0 " + sha(""), "image/jpeg attachment small.JPG 10 " + sha(string(small)), "application/octet-stream attachment photo 300000 " + sha(string(photo)),
		}},
		"a list, and a body in another type": {`step("second", smtp.send(s, sender = "a@x.test", to = "b@y.test", subject = "x", body = "<b>Grüße</b>\n", headers = {"Content-Type": "text/html; charset=utf-8"}, attachments = photos))`, []string{
			"x", "text/html None None 15 " + sha("<b>Grüße</b>\n"), "image/jpeg attachment photo.jpg 300000 " + sha(string(photo)),
		}},
		"a function, no body": {`step("second", lambda vu: vu.smtp.send(s, sender = "a@x.test", to = "b@y.test", subject = "f", attachments = {"a.pdf": "%d" % vu.id}))`, []string{
			"f", "text/plain None None 0 " + sha(""), "application/pdf attachment a.pdf 1 " + sha("0"),
		}},
	} {
		w := loadFiles(t, s.URL(), `
photos = file.glob("up/photo*")
s = smtp.client("TARGET")
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [
	step("first", smtp.send(s, sender = "a@x.test", to = "b@y.test"), extract = {"n": json_path("$.code")}),
	`+tt.step+`,
])`, []byte("big"), photo, small)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second})
		if got := r.Stats.Steps[1]; got.OK != 1 {
			t.Fatalf("%s: %v: %v", name, got.Errors, r.Stats.Logs)
		}
		if got := s.Parts(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: Python reads\n%q, want\n%q", name, got, tt.want)
		}
	}
}

// A function that sends one file in messages that all differ takes no memory for each of them.
func TestFunctionsShareAnAttachment(t *testing.T) {
	s := smtptest.Start(t)
	w := loadFiles(t, s.URL(), `
photos = file.glob("up/photo*")
s = smtp.client("TARGET")
workflow(name = "test", vus = 1, iterations = 30, duration = "60s", steps = [
	step("send", lambda vu: vu.smtp.send(s, sender = "a@x.test", to = "b@y.test", subject = "order %d" % vu.iteration, attachments = photos)),
])`, []byte("big"), bytes.Repeat([]byte("photo"), 400_000), []byte("small"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second})
	runtime.ReadMemStats(&after)
	if got := r.Stats.Steps[0]; got.OK != 30 {
		t.Fatal(got.Errors)
	}
	if all := after.TotalAlloc - before.TotalAlloc; all > 30<<20 {
		t.Fatalf("%d MiB for 30 messages of 2.5 MiB", all>>20)
	}
}

func sha(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
