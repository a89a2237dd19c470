package kinds_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/outputs/outputstest/servers/serverstest"
	"hyperscale/runtime/outputs/outputstest/vendors/vendorstest"
	"hyperscale/runtime/outputs/push/google"
)

func init() { places["gcs"], places["bigquery"], places["bigtable"] = newGCS, newBigQuery, newBigtable }

// googlePlace is one of a kind of Google's, and the page of its double.
type googlePlace struct {
	*place
	page    string
	account string // the key file
	tablet  string // address of Bigtable
}

// newGoogle starts a double, and keeps the key file of its account.
func newGoogle(t *testing.T, program string) *googlePlace {
	addresses := vendorstest.Start(t, program)
	g := &googlePlace{place: &place{behind: addresses[0], Proxy: outputstest.NewProxy(serverstest.To(addresses[0]), nil)}, page: "http://" + addresses[1], tablet: addresses[2]}
	t.Cleanup(g.Close)
	g.account = filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(g.account, []byte(serverstest.Ask(t, http.MethodGet, g.page+"/account")), 0o600); err != nil {
		t.Fatal(err)
	}
	return g
}

// rowsOf are the keys of the rows of compressed lines.
func rowsOf(b []byte, into map[string]int) error {
	plain, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(plain)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		row, err := outputs.ParseJSON([]byte(line))
		if err != nil {
			return err
		}
		into[row.Key()]++
	}
	return nil
}

func newGCS(t *testing.T) outputstest.Place {
	g := newGoogle(t, "google")
	g.key = (*outputs.Row).Key
	g.name = func(url string) string { return "gs://results/a b+c=d'ü?,endpoint=" + url + ",key_file=" + g.account }
	g.stored = func(job string) (map[string]int, error) {
		var objects map[string][]byte
		if err := json.Unmarshal([]byte(serverstest.Ask(t, http.MethodGet, g.page+"/objects")), &objects); err != nil {
			return nil, err
		}
		all := map[string]int{}
		for name, b := range objects {
			if !strings.HasPrefix(name, "a b+c=d'ü?/"+job+"/") {
				continue
			}
			if err := rowsOf(b, all); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return g
}

func TestGCSSaysWhatIsWrong(t *testing.T) {
	g := newGCS(t).(*googlePlace)
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "wrong.json")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	text, err := os.ReadFile(g.account)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(text), "loader@shop", "other@shop", 1)
	for place, want := range map[string]string{
		strings.Replace(g.Name(), "results", "absent", 1):                                                                  "create the bucket",
		strings.Replace(g.Name(), "results", "readers", 1):                                                                 "no storage.objects.create in bucket readers: grant it the role Storage Object User",
		strings.Replace(g.Name(), g.account, write(other), 1):                                                              "set the clock of this machine",
		strings.Replace(g.Name(), g.account, write("{secret-key"), 1):                                                      "no JSON: give the key file",
		strings.Replace(g.Name(), g.account, write(`{"type":"user"}`), 1):                                                  `its type is "user"`,
		strings.Replace(g.Name(), "key_file="+g.account, "key_env=GONE", 1):                                                "set it, or use key_file",
		strings.Replace(g.Name(), "gs://", "s3://", 1):                                                                     "write gs://BUCKET/PREFIX",
		strings.Replace(g.Name(), g.URL(), "http://u@h", 1):                                                                "is no address",
		strings.Replace(g.Name(), g.account, write(strings.Replace(string(text), "http://", "http://example.org/", 1)), 1): "no address of https",
	} {
		k := google.GCS()
		set, err := outputs.Parse(&k, place)
		if err != nil {
			t.Fatal(err)
		}
		s, err := k.Open(set)
		if err == nil {
			err = s.Check(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret-key") || strings.Contains(err.Error(), "PRIVATE KEY") {
			t.Errorf("%s: %v, want %s", place, err, want)
		}
	}
}

// One token serves many batches. One that the service rejects is replaced, and so is one that ends soon.
func TestGoogleTokensAreKeptAndRenewed(t *testing.T) {
	g := newGCS(t).(*googlePlace)
	count := func() string { return serverstest.Ask(t, http.MethodGet, g.page+"/count") }
	s := open(t, google.GCS(), g.Name())
	n := 0
	deliver := func() outputs.Outcome {
		n++
		rows := outputstest.Rows("tokens")[n : n+1]
		return s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: rows})
	}
	before := count()
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := count()
	for range 3 {
		if out := deliver(); out.Verdict != outputs.VerdictDelivered {
			t.Fatal(out)
		}
	}
	if first == before || count() != first {
		t.Fatalf("%s tokens before, %s after the check, %s after three batches", before, first, count())
	}
	serverstest.Ask(t, http.MethodGet, g.page+"/revoke")
	if out := deliver(); out.Verdict != outputs.VerdictDenied || strings.Contains(out.Why, "ya29") {
		t.Fatal(out)
	}
	if out := deliver(); out.Verdict != outputs.VerdictDelivered || count() == first {
		t.Fatal(out, count())
	}
	// A token that says it lasts no second serves one request.
	serverstest.Ask(t, http.MethodGet, g.page+"/revoke")
	serverstest.Ask(t, http.MethodGet, g.page+"/lasts?for=900ms")
	_ = deliver() // its token was revoked
	_ = deliver()
	at := count()
	_ = deliver()
	if count() == at {
		t.Fatal("a token that is over was used again")
	}
	serverstest.Ask(t, http.MethodGet, g.page+"/denies?it=true")
	if out := deliver(); out.Verdict != outputs.VerdictDenied || !strings.Contains(out.Why, "the account is disabled") || strings.Contains(out.Why, "assertion=") {
		t.Fatal(out)
	}
}

// Without a key file the variable names one, and without that the metadata server of the machine gives the token.
func TestGoogleTokensOfTheMachine(t *testing.T) {
	g := newGCS(t).(*googlePlace)
	name := strings.Replace(g.Name(), ",key_file="+g.account, "", 1)
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", g.account)
	if err := open(t, google.GCS(), name).Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	u, err := url.Parse("http://" + g.behind)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GCE_METADATA_HOST", u.Host)
	if err := open(t, google.GCS(), name).Check(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func newBigQuery(t *testing.T) outputstest.Place {
	g := newGoogle(t, "google")
	g.name = func(url string) string { return "shop.load,endpoint=" + url + ",location=EU,key_file=" + g.account }
	g.key = (*outputs.Row).Key
	g.stored = func(job string) (map[string]int, error) {
		all := map[string]int{}
		for line := range strings.Lines(serverstest.Ask(t, http.MethodGet, g.page+"/rows")) {
			var r struct{ Key, Job string }
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				return nil, err
			}
			if r.Job == job {
				all[r.Key]++
			}
		}
		return all, nil
	}
	return g
}

func TestBigQuerySaysWhatIsWrong(t *testing.T) {
	g := newBigQuery(t).(*googlePlace)
	for place, want := range map[string]string{
		strings.Replace(g.Name(), "shop.load", "shop.absent", 1):  "create the dataset",
		strings.Replace(g.Name(), "shop.load", "other.load", 1):   "accessDenied",
		g.Name() + ",create=false":                                "which create=true does",
		g.Name() + ",table=a-b":                                   "write letters, digits and _",
		strings.Replace(g.Name(), "shop.load", "load", 1):         "write PROJECT.DATASET",
		strings.Replace(g.Name(), "location=EU", "location=/", 1): "as in EU",
	} {
		k := google.BigQuery()
		set, err := outputs.Parse(&k, place)
		if err != nil {
			t.Fatal(err)
		}
		s, err := k.Open(set)
		if err == nil {
			err = s.Check(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", place, err)
		}
	}
}

// tabletPlace is Google's in-memory Bigtable, which speaks HTTP/2, behind a relay.
type tabletPlace struct {
	*outputstest.Relay
	double *googlePlace
}

func newBigtable(t *testing.T) outputstest.Place {
	g := newGoogle(t, "google")
	r := outputstest.NewRelay(t, g.tablet)
	r.Every = 11 // a try on a new connection is some five pieces
	return &tabletPlace{r, g}
}

func (p *tabletPlace) Name() string {
	return "shop/load/hyperscale,endpoint=http://" + p.Address() + ",key_file=" + p.double.account
}

// Key has the revision, which is the time of the newest cell.
func (p *tabletPlace) Key(r *outputs.Row) string {
	return fmt.Sprint(r.Key(), "#", binary.BigEndian.Uint64(r.Version[24:])*1000, "#", r.Figures != nil)
}

type btCell struct {
	Key, Row string
	Micros   int64
	Columns  int
}

func (p *tabletPlace) cells(job string) (all []btCell, err error) {
	prefix := []byte(job)
	slices.Reverse(prefix)
	a, err := http.Get(p.double.page + "/cells?prefix=" + url.QueryEscape(string(prefix)+"#"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.Body.Close() }()
	return all, json.NewDecoder(a.Body).Decode(&all)
}

func (p *tabletPlace) Stored(job string) (map[string]int, error) {
	cells, err := p.cells(job)
	all := map[string]int{}
	for _, c := range cells {
		r, wrong := outputs.ParseJSON([]byte(c.Row))
		if wrong != nil {
			return nil, wrong
		}
		all[fmt.Sprint(r.Key(), "#", c.Micros, "#", c.Columns == 10)]++
	}
	return all, err
}

// Of two versions the newer one is the newest cell, in whichever order they arrive; a row whose key is too long is rejected alone.
func TestBigtableKeepsTheNewestRow(t *testing.T) {
	p := newBigtable(t).(*tabletPlace)
	s := open(t, google.Bigtable(), p.Name())
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, revision := range []uint64{5, 9, 7} {
		rows := outputstest.Rows("newest")[:3]
		rows[0].Version.Set(0, revision)
		rows[0].Test = fmt.Sprint("revision ", revision)
		rows[1].Step = strings.Repeat("long ", 1000)
		out := s.Deliver(t.Context(), outputs.Batch{Number: uint64(i + 1), Try: 1, Rows: rows})
		if out.Verdict != outputs.VerdictRejected || !slices.Equal(out.Rows, []int{1}) || !strings.Contains(out.Why, "Bigtable takes 4096") {
			t.Fatalf("%+v", out)
		}
	}
	cells, err := p.cells("newest")
	if err != nil || len(cells) != 2 {
		t.Fatalf("%d rows, %v", len(cells), err)
	}
	for _, c := range cells {
		if strings.Contains(c.Row, "revision") && (c.Micros != 9000 || !strings.Contains(c.Row, "revision 9")) {
			t.Fatalf("%+v", c)
		}
	}
}

func TestBigtableSaysWhatIsWrong(t *testing.T) {
	p := newBigtable(t).(*tabletPlace)
	for place, want := range map[string]string{
		strings.Replace(p.Name(), "/hyperscale", "/absent", 1): "create the table with its column family",
		p.Name() + ",family=absent":                            `unknown family "absent"`,
		strings.Replace(p.Name(), "load/", "", 1):              "write PROJECT/INSTANCE/TABLE",
		p.Name() + ",family=a/b":                               "at most 64 letters",
	} {
		k := google.Bigtable()
		set, err := outputs.Parse(&k, place)
		if err != nil {
			t.Fatal(err)
		}
		s, err := k.Open(set)
		if err == nil {
			err = s.Check(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", place, err)
		}
	}
	s := open(t, google.Bigtable(), p.Name())
	b := outputs.Batch{Number: 1, Try: 1, Rows: outputstest.Rows("denied")[:2]}
	if out := s.Deliver(t.Context(), b); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
	serverstest.Ask(t, http.MethodGet, p.double.page+"/revoke")
	if out := s.Deliver(t.Context(), b); out.Verdict != outputs.VerdictDenied || !strings.Contains(out.Why, "UNAUTHENTICATED") || strings.Contains(out.Why, "ya29") {
		t.Fatal(out)
	}
	if out := s.Deliver(t.Context(), b); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
}
