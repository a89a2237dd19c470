package snowflake

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/outputs/push"
)

// statements answers as a test says, and keeps what it was asked.
type statements struct {
	mu      sync.Mutex
	asked   []string // method, path and query
	bodies  []map[string]any
	status  int
	code    string
	state   string // SQLSTATE
	waiting int    // answers with 202 before the end
	held    context.CancelFunc
	handle  string
}

func (s *statements) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
	if r.Method == http.MethodPost {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		s.bodies = append(s.bodies, body)
	}
	if s.waiting > 0 {
		if s.waiting--; s.waiting == 0 && s.held != nil {
			s.held()
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprintf(w, `{"code":"333334","statementHandle":%q}`, s.handle)
		return
	}
	w.WriteHeader(s.status)
	_, _ = fmt.Fprintf(w, `{"code":%q,"message":"it is so","sqlState":%q,"statementHandle":%q}`, s.code, s.state, s.handle)
}

func newStatements(t *testing.T) (*statements, outputs.Sink) {
	s := &statements{status: http.StatusOK, code: "090001", handle: "01-ab"}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SNOW_KEY", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	k := Kind()
	set, err := outputs.Parse(&k, server.URL+",account=a,user=u,database=D,key_env=SNOW_KEY")
	if err != nil {
		t.Fatal(err)
	}
	out, err := k.Open(set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Close)
	return s, out
}

func batch(n int) outputs.Batch {
	return outputs.Batch{Number: 1, Try: 1, Rows: outputstest.Rows("snow")[n : n+2]}
}

// A repeated try has the id of the first one, and says that it is one: else Snowflake runs the statement twice.
func TestRepeatedTryHasTheSameRequestID(t *testing.T) {
	s, out := newStatements(t)
	for try := 1; try <= 2; try++ {
		for n := range 2 {
			b := batch(n)
			b.Try = try
			if end := out.Deliver(t.Context(), b); end.Verdict != outputs.VerdictDelivered {
				t.Fatal(end)
			}
		}
	}
	id := regexp.MustCompile(`^POST /api/v2/statements\?requestId=([0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})(&retry=true)?$`)
	var ids []string
	for i, a := range s.asked {
		m := id.FindStringSubmatch(a)
		if m == nil || (m[2] != "") != (i >= 2) {
			t.Fatalf("request %d: %s", i, a)
		}
		ids = append(ids, m[1])
	}
	if ids[0] != ids[2] || ids[1] != ids[3] || ids[0] == ids[1] {
		t.Fatalf("the ids are %q", ids)
	}
}

// A statement that lasts longer is asked by its handle, and nothing is sent again.
func TestStatementIsAwaited(t *testing.T) {
	s, out := newStatements(t)
	s.waiting = 3
	if end := out.Deliver(t.Context(), batch(0)); end.Verdict != outputs.VerdictDelivered {
		t.Fatal(end)
	}
	if got := strings.Join(s.asked[1:], ", "); len(s.bodies) != 1 || got != "GET /api/v2/statements/01-ab, GET /api/v2/statements/01-ab, GET /api/v2/statements/01-ab" {
		t.Fatalf("%d statements: %s", len(s.bodies), got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.waiting, s.held = 2, cancel
	if end := out.Deliver(ctx, batch(0)); end.Verdict != outputs.VerdictUnclear {
		t.Fatalf("a statement that still runs is %+v", end)
	}
	s.mu.Lock() // an answer is perhaps still on its way
	s.waiting, s.held, s.handle = 1, nil, "../../login"
	s.mu.Unlock()
	if end := out.Deliver(t.Context(), batch(0)); end.Verdict != outputs.VerdictUnclear {
		t.Fatalf("a handle that is none: %+v", end)
	}
}

func TestWhatAnswersMean(t *testing.T) {
	s, out := newStatements(t)
	for _, c := range []struct {
		status int
		code   string // and SQLSTATE
		want   outputs.Verdict
		why    string
	}{
		{422, "000603 XX000", outputs.VerdictAgain, "000603: it is so"},
		{422, "000999 57014", outputs.VerdictAgain, ""},
		{422, "000606 57P03", outputs.VerdictRejected, "warehouse=NAME"},
		{422, "002003 42S02", outputs.VerdictRejected, "outputs schema snowflake"},
		{422, "100038 22018", outputs.VerdictSmaller, ""},
		{401, "390144", outputs.VerdictDenied, "public half of this key"},
		{408, "000630", outputs.VerdictAgain, ""},
		{422, "000604", outputs.VerdictAgain, ""},
		{422, "003001", outputs.VerdictDenied, "role=NAME"},
		{422, "000606", outputs.VerdictRejected, "warehouse=NAME"},
		{422, "002003", outputs.VerdictRejected, "outputs schema snowflake"},
		{422, "100038", outputs.VerdictSmaller, "100038: it is so"},
		{429, "390505", outputs.VerdictAgain, ""},
		{503, "", outputs.VerdictAgain, ""},
	} {
		s.status = c.status
		s.code, s.state, _ = strings.Cut(c.code, " ")
		if end := out.Deliver(t.Context(), batch(0)); end.Verdict != c.want || !strings.Contains(end.Why, c.why) {
			t.Errorf("%d %s: %+v", c.status, c.code, end)
		}
	}
}

// No name and no value of a row is in the text of a statement, and each column is in each part of it.
func TestStatementHasColumnsAndNoValues(t *testing.T) {
	s, out := newStatements(t)
	rows := outputstest.Rows("snow")
	if end := out.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: rows}); end.Verdict != outputs.VerdictDelivered {
		t.Fatal(end)
	}
	text := s.bodies[0]["statement"].(string)
	if text != mergeSQL("hyperscale_rows") || s.bodies[0]["database"] != "D" || s.bodies[0]["schema"] != "PUBLIC" || s.bodies[0]["warehouse"] != nil {
		t.Fatalf("%v", s.bodies[0])
	}
	for _, c := range columns() {
		for _, part := range []string{"value:" + c.name + "::" + c.kind + " AS " + c.name + ", ", "t." + c.name + " = s." + c.name + ", ", c.name + ", ", "s." + c.name + ", "} {
			if !strings.Contains(text, part) {
				t.Errorf("%s is not in the statement", part)
			}
		}
	}
	binding := s.bodies[0]["bindings"].(map[string]any)["1"].(map[string]any)
	var elements []map[string]any
	if err := json.Unmarshal([]byte(binding["value"].(string)), &elements); err != nil || len(elements) != len(rows) || binding["type"] != "TEXT" {
		t.Fatalf("%d elements: %v", len(elements), err)
	}
	seen := map[string]bool{}
	for i, e := range elements {
		if e["row_key"] != rows[i].Key() {
			t.Fatalf("row %d has key %v", i, e["row_key"])
		}
		for name := range e {
			seen[name] = true
		}
	}
	for _, c := range columns() {
		if !seen[c.name] {
			t.Errorf("no row has a field for the column %s", c.name)
		}
	}
}

// FuzzAnswer: what a service says of a statement is a handle that fits an address, or none.
func FuzzAnswer(f *testing.F) {
	f.Add(202, []byte(`{"code":"333334","statementHandle":"01b2-x"}`))
	f.Add(422, []byte(`{"code":"100038","message":"x\ny","statementHandle":"../x"}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		a := &push.Answer{Status: status, Header: http.Header{}, Body: body}
		if s := parseAnswer(a); isHandle(s.Handle) && strings.ContainsAny(s.Handle, "/?#%.\r\n ") {
			t.Fatalf("%q", s.Handle)
		}
		if out := judge(batch(0), a); out.Verdict == outputs.VerdictNone || strings.ContainsAny(out.Why, "\r\n") {
			t.Fatalf("%+v", out)
		}
	})
}
