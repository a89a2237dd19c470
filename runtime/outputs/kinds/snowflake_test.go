package kinds_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/outputs/outputstest/servers/serverstest"
	"hyperscale/runtime/outputs/outputstest/vendors/vendorstest"
	"hyperscale/runtime/outputs/push/snowflake"
)

func init() { places["snowflake"] = newSnowflake }

func newSnowflake(t *testing.T) outputstest.Place {
	addresses := vendorstest.Start(t, "snowflake")
	page, key := "http://"+addresses[1], filepath.Join(t.TempDir(), "rsa_key.p8")
	if err := os.WriteFile(key, []byte(serverstest.Ask(t, http.MethodGet, page+"/key")), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &place{behind: page, Proxy: outputstest.NewProxy(serverstest.To(addresses[0]), nil), options: ",account=org-account.eu-west-1,user=loader,database=LOAD,key_file=" + key}
	t.Cleanup(p.Close)
	p.key = func(r *outputs.Row) string { return fmt.Sprint(r.Key(), "#", begunOf(r)) }
	p.stored = func(job string) (map[string]int, error) {
		var rows []struct {
			Key   string `json:"row_key"`
			Job   string
			Begun uint64
			Body  json.RawMessage
		}
		if err := json.Unmarshal([]byte(serverstest.Ask(t, http.MethodGet, page+"/rows")), &rows); err != nil {
			return nil, err
		}
		all := map[string]int{}
		for _, r := range rows {
			whole, err := outputs.ParseJSON(r.Body)
			if err != nil {
				return nil, err
			}
			if whole.Key() != r.Key || whole.Job != r.Job {
				t.Errorf("%s is in the row of %s", whole.Key(), r.Key)
			}
			if r.Job == job {
				all[fmt.Sprint(r.Key, "#", r.Begun)]++
			}
		}
		return all, nil
	}
	return p
}

func TestSnowflakeSaysWhatIsWrong(t *testing.T) {
	p := newSnowflake(t).(*place)
	for place, want := range map[string]string{
		strings.Replace(p.Name(), "user=loader", "user=other", 1):        "give the user the public half of this key",
		strings.Replace(p.Name(), "account=org-account", "account=b", 1): "correct user= and account=",
		strings.Replace(p.Name(), "database=LOAD", "database=load", 1):   "create the database and schema",
		p.Name() + ",create=false":                                       "as `hyperscale outputs schema snowflake` prints it",
		p.Name() + ",table=1x":                                           "write letters, digits and _",
		strings.Replace(p.Name(), ",database=LOAD", "", 1):               "give database=NAME",
		strings.Replace(p.Name(), "key_file=", "key_file=/absent", 1):    "name a file that this user may read",
		strings.Replace(p.Name(), p.URL(), "https://u@h", 1):             "is no address of an account",
	} {
		k := snowflake.Kind()
		set, err := outputs.Parse(&k, place)
		if err != nil {
			t.Fatal(err)
		}
		s, err := k.Open(set)
		if err == nil {
			err = s.Check(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%s: %v", place, err)
		}
	}
}

// A batch that was sent twice runs once; one whose version is older changes nothing; a row that no cast takes is found.
func TestSnowflakeMerges(t *testing.T) {
	p := newSnowflake(t).(*place)
	s := open(t, snowflake.Kind(), p.Name())
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	runs := func() string { return serverstest.Ask(t, http.MethodGet, p.behind+"/runs") }
	rows := outputstest.Rows("merged")[:2]
	b := outputs.Batch{Number: 1, Try: 1, Rows: append(rows, rows[0])}
	b.Rows[2].Version.Set(0, 9)
	b.Rows[2].Figures = &outputs.Figures{Begun: 77}
	if out := s.Deliver(t.Context(), b); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
	before := runs()
	b.Try = 2
	if out := s.Deliver(t.Context(), b); out.Verdict != outputs.VerdictDelivered || runs() != before {
		t.Fatal(out, runs(), before)
	}
	if out := s.Deliver(t.Context(), outputs.Batch{Number: 2, Try: 1, Rows: b.Rows[:1]}); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
	stored, err := p.Stored("merged")
	if err != nil || len(stored) != 2 || stored[rows[0].Key()+"#77"] != 1 {
		t.Fatal(stored, err)
	}
	for code, want := range map[string]outputs.Verdict{"000630": outputs.VerdictAgain, "003001": outputs.VerdictDenied, "000606": outputs.VerdictRejected, "100038": outputs.VerdictSmaller} {
		serverstest.Ask(t, http.MethodGet, p.behind+"/fails?codes="+code)
		if out := s.Deliver(t.Context(), outputs.Batch{Number: 3, Try: 1, Rows: b.Rows}); out.Verdict != want || !strings.Contains(out.Why, code) {
			t.Fatalf("%s: %+v", code, out)
		}
	}
}
