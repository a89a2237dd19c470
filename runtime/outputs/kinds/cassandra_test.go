package kinds_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/cassandra"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/outputs/outputstest/servers/serverstest"
	"hyperscale/runtime/outputs/outputstest/vendors/vendorstest"
)

func init() {
	places["cassandra"] = func(t *testing.T) outputstest.Place { return newCassandra(t) }
}

// ring is a double of Cassandra behind a relay. Apache's client gocql reads what it keeps.
type ring struct {
	*outputstest.Relay
	t    *testing.T
	page string
}

func newCassandra(t *testing.T) *ring {
	addresses := vendorstest.Start(t, "cassandra")
	r := &ring{outputstest.NewRelay(t, addresses[0]), t, "http://" + addresses[1]}
	r.Every = 7 // a connection with one batch is five pieces
	t.Setenv("CASSANDRA_PW", r.ask("/password"))
	return r
}

func (r *ring) ask(path string) string { return serverstest.Ask(r.t, http.MethodGet, r.page+path) }

func (r *ring) Name() string {
	return "cassandra://load@" + r.Address() + "/load,password_env=CASSANDRA_PW"
}

func (r *ring) Key(row *outputs.Row) string { return row.Key() }

// Stored compares the columns with the whole row, which names its key.
func (r *ring) Stored(job string) (map[string]int, error) {
	var found []struct {
		Job, Day, Kind, Datacenter, Workflow, Step, Expression, Test, At, Version, Row string
		StepKind                                                                       string `json:"step_kind"`
		From                                                                           int64  `json:"from_ms"`
		To                                                                             int64  `json:"to_ms"`
		Sequence, Begun, OK, Failed                                                    uint64
		P99                                                                            uint64 `json:"p99_ns"`
	}
	if err := json.Unmarshal([]byte(r.ask("/rows")), &found); err != nil {
		return nil, err
	}
	all := map[string]int{}
	for _, f := range found {
		row, err := outputs.ParseJSON([]byte(f.Row))
		if err != nil {
			return nil, err
		}
		if row.Job != job {
			continue
		}
		got := []any{f.Job, f.Kind, f.Datacenter, f.Workflow, f.Step, f.StepKind, f.Test, f.Version, f.At, f.Day}
		want := []any{row.Job, row.Kind.String(), row.Datacenter, row.Workflow, row.Step, outputs.StepKindName(row.StepKind), row.Test, fmt.Sprintf("%x", row.Version),
			row.At().Format("2006-01-02T15:04:05.999Z"), row.Started.Format("2006-01-02T00:00:00Z")}
		if row.Kind == outputs.RowWindow || row.Kind == outputs.RowLost {
			got, want = append(got, f.From, f.To), append(want, row.From.Milliseconds(), row.To.Milliseconds())
		}
		if row.Figures != nil {
			q := row.Figures.Quantiles()
			got, want = append(got, f.Begun, f.OK, f.Failed, f.P99), append(want, row.Figures.Begun, row.Figures.OK, row.Figures.Failed, q[3])
		}
		if d := cmp.Diff(want, got); d != "" {
			return nil, fmt.Errorf("columns of %s: %s", row.Key(), d)
		}
		all[row.Key()]++
	}
	return all, nil
}

// What is read is what was delivered; the greater version of a row stays, in whatever order they come.
func TestCassandraKeepsTheGreaterVersion(t *testing.T) {
	r := newCassandra(t)
	sink := open(t, cassandra.Kind(), r.Name())
	require.NoError(t, sink.Check(t.Context()))
	deliver := func(rows ...outputs.Row) {
		t.Helper()
		out := sink.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: rows})
		require.Equal(t, outputs.VerdictDelivered, out.Verdict, out.Why)
	}
	rows := outputstest.Rows("a")
	deliver(rows...)
	deliver(rows...)
	older, newer := rows[0], rows[1]
	older.Version, older.Figures = outputs.Version{}, &outputs.Figures{Begun: 99_999}
	newer.Version.Set(0, 1000)
	newer.Figures = &outputs.Figures{Begun: 7, Blunt: true}
	deliver(older, newer)
	rows[1] = newer
	midnight := rows[2] // a window of the next day
	midnight.From, midnight.To = 24*time.Hour, 24*time.Hour+10*time.Second
	end := rows[len(rows)-1] // the row of the job is one, whenever it ends
	end.To = 24 * time.Hour
	end.Version.Set(0, 2000)
	deliver(midnight, end)
	rows[len(rows)-1] = end
	rows = append(rows, midnight)
	k := cassandra.Kind()
	set, err := outputs.Parse(&k, r.Name())
	require.NoError(t, err)
	got, err := k.ReadBack(set, "a")
	require.NoError(t, err)
	byKey := cmpopts.SortSlices(func(a, b outputs.Row) bool { return a.Key() < b.Key() })
	if d := cmp.Diff(rows, got, byKey, cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
	none, err := k.ReadBack(set, "' OR 1 = 1")
	require.NoError(t, err)
	require.Empty(t, none)
}

// A row that the server never takes is rejected alone; what the server cannot do now is tried again.
func TestCassandraJudgesRows(t *testing.T) {
	r := newCassandra(t)
	sink := open(t, cassandra.Kind(), r.Name())
	rows := outputstest.Rows("b")[:5]
	rows[2].Step = strings.Repeat("x", 70_000)
	out := sink.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: rows})
	require.Equal(t, outputs.VerdictRejected, out.Verdict)
	require.Equal(t, []int{2}, out.Rows)
	require.Contains(t, out.Why, "longer than maximum of 65535")
	rows = outputstest.Rows("b")[:5]
	for code, want := range map[string]outputs.Verdict{
		"0x0000": outputs.VerdictAgain, "0x1000": outputs.VerdictAgain, "0x1001": outputs.VerdictAgain, "0x1002": outputs.VerdictAgain,
		"0x1100": outputs.VerdictAgain, "0x1500": outputs.VerdictAgain, "0x2100": outputs.VerdictDenied, "0x2500": outputs.VerdictAgain,
	} {
		r.ask("/fail?code=" + code + "&n=1")
		out := sink.Deliver(t.Context(), outputs.Batch{Number: 2, Try: 1, Rows: rows})
		require.Equal(t, want, out.Verdict, "%s: %s", code, out.Why)
		require.Contains(t, out.Why, code)
	}
	for _, what := range []string{"/forget", "/drop"} { // a node that starts again, and tables that are gone
		if out := sink.Deliver(t.Context(), outputs.Batch{Number: 3, Try: 1, Rows: rows}); out.Verdict != outputs.VerdictDelivered {
			t.Fatal(out)
		}
		r.ask(what)
		if out := sink.Deliver(t.Context(), outputs.Batch{Number: 3, Try: 1, Rows: rows}); out.Verdict != outputs.VerdictAgain {
			t.Errorf("%s: %+v", what, out)
		}
		if out := sink.Deliver(t.Context(), outputs.Batch{Number: 3, Try: 2, Rows: rows}); out.Verdict != outputs.VerdictDelivered {
			t.Errorf("%s: %+v", what, out)
		}
	}
}

func TestCassandraSaysWhatIsWrong(t *testing.T) {
	r := newCassandra(t)
	const secret = "not-this-one-1f3a"
	t.Setenv("CASSANDRA_WRONG", secret)
	for place, want := range map[string]string{
		strings.Replace(r.Name(), "CASSANDRA_PW", "CASSANDRA_WRONG", 1): "0x0100",
		"cassandra://" + r.Address() + "/load":                          "the server wants a user",
		strings.Replace(r.Name(), "/load,", "/absent,", 1):              "create the keyspace",
		r.Name() + ",create=false":                                      "which create=true does",
		strings.TrimPrefix(r.page, "http://"):                           "no address of servers and a keyspace",
		"cassandra://127.0.0.1:1/load":                                  "start it, or correct the address",
		"cassandra://127.0.0.1/lo;ad":                                   "letters, digits and _",
		"cassandra://load@cassandra.internal/load,password_env=X":       "write cassandras://",
		"cassandra://load@127.0.0.1/load":                               "belong together",
		"cassandra://load:" + secret + "@127.0.0.1/load":                "use password_file=FILE",
		"cassandra://127.0.0.1/load,ca=ca.pem":                          "write cassandras://",
		"cassandras://" + r.Address() + "/load":                         "TLS",
		"cassandra://127.0.0.1/load,consistency=ONE":                    "use LOCAL_QUORUM",
	} {
		k := cassandra.Kind()
		set, err := outputs.Parse(&k, place)
		if err == nil {
			var s outputs.Sink
			if s, err = k.Open(set); err == nil {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				err = s.Check(ctx)
				cancel()
				s.Close()
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want %q", place, err, want)
		}
	}
	// One server of two is enough.
	open(t, cassandra.Kind(), strings.Replace(r.Name(), "load@", "load@127.0.0.1:1,", 1))
}
