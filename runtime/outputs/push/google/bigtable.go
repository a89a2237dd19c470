package google

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/push"
	"hyperscale/runtime/outputs/push/otlp"
	"hyperscale/runtime/protocol/grpc"
)

const (
	bigtableScope  = "https://www.googleapis.com/auth/bigtable.data"
	bigtableURL    = "https://bigtable.googleapis.com"
	bigtableMethod = "/google.bigtable.v2.Bigtable/MutateRows"
	rowKeyMax      = 4096     // bytes
	cellMax        = 10 << 20 // bytes that Google advises for a cell; 100 MB are rejected
	bigtableMax    = 4 << 20  // bytes of a request
)

// Numbers of fields of MutateRowsRequest, its entries and mutations, and of MutateRowsResponse.
const (
	requestTable   = 1
	requestEntries = 2
	requestProfile = 3
	entryKey       = 1
	entryMutations = 2
	mutationSet    = 1
	setFamily      = 1
	setColumn      = 2
	setMicros      = 3
	setValue       = 4
	answerEntries  = 1
	answerIndex    = 1
	answerStatus   = 2
	statusCode     = 1
	statusText     = 2
)

// Bigtable is the kind `bigtable`: a row for each row, by MutateRows.
func Bigtable() outputs.Kind {
	return outputs.Kind{
		Name: "bigtable", Engine: "push", About: "Google Cloud Bigtable: a row for each row, with its distribution, during the run and at its end",
		Place: "PROJECT/INSTANCE/TABLE", Example: "shop/load/hyperscale,key_file=account.json",
		Options: []outputs.Option{
			{Name: "family", Default: "r", Help: "column family, which must exist"},
			{Name: "profile", Help: "app profile; the instance's default one if it is not given"},
			keyOption(),
			{Name: "endpoint", Help: "address of a service other than Google's, as in http://127.0.0.1:8086"},
		},
		Delivery: outputs.Exact,
		Limits:   outputs.Limits{Rows: 1000, Bytes: 1 << 20, Timeout: 30 * time.Second, Parallel: 1},
		Tested:   "Google's in-memory server bttest 1.58.0, with tokens that golang-jwt 5.3.1 verifies; no Bigtable",
		Open:     openBigtable,
	}
}

type bigtable struct {
	client *push.Client // of tokens
	tokens *tokens
	rpc    *rpc
	table  string // projects/P/instances/I/tables/T
	family string
	params string
	prefix []byte // of a request: its table and profile
}

func openBigtable(s *outputs.Settings) (outputs.Sink, error) {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-_."
	parts := strings.Split(s.Place, "/")
	if len(parts) != 3 || slices.ContainsFunc(parts, func(p string) bool { return p == "" || strings.Trim(strings.ToLower(p), letters+":") != "" }) {
		return nil, fmt.Errorf("place = %q: write PROJECT/INSTANCE/TABLE, as in %s", s.Place, s.Kind.Example)
	}
	t := &bigtable{client: push.NewClient(), table: "projects/" + parts[0] + "/instances/" + parts[1] + "/tables/" + parts[2], family: s.Text("family")}
	profile := s.Text("profile")
	for _, o := range [][2]string{{"family", t.family}, {"profile", profile}} {
		if len(o[1]) > 64 || strings.Trim(strings.ToLower(o[1]), letters) != "" || o[0] == "family" && o[1] == "" {
			return nil, fmt.Errorf("%s = %q: write at most 64 letters, digits, dots and - or _", o[0], o[1])
		}
	}
	u, err := endpointOf(s, bigtableURL)
	if err != nil {
		return nil, err
	}
	t.rpc, t.tokens = newRPC(*u), newTokens(t.client, s, bigtableScope)
	t.prefix = protowire.AppendString(protowire.AppendTag(nil, requestTable, protowire.BytesType), t.table)
	t.params = "table_name=" + url.QueryEscape(t.table)
	if profile != "" {
		t.prefix = protowire.AppendString(protowire.AppendTag(t.prefix, requestProfile, protowire.BytesType), profile)
		t.params += "&app_profile_id=" + url.QueryEscape(profile)
	}
	return t, nil
}

// Close implements outputs.Sink.
func (t *bigtable) Close() {
	t.client.Close()
	t.rpc.http.CloseIdleConnections()
}

// Check implements outputs.Sink. It writes a row with a key of its own: the right to write is what matters.
func (t *bigtable) Check(ctx context.Context) error {
	entry := t.entry([]byte("hyperscale-check"), 0, [][2][]byte{{[]byte("row"), []byte("hyperscale can write here")}})
	if out := t.send(ctx, outputs.Batch{Rows: make([]outputs.Row, 1)}, []int{0}, append(slices.Clone(t.prefix), entry...)); out.Verdict != outputs.VerdictDelivered {
		return errors.New(out.Why)
	}
	return nil
}

// Deliver implements outputs.Sink.
func (t *bigtable) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	body := slices.Clone(t.prefix)
	var sent, wrong []int
	why := ""
	for i := range b.Rows {
		key, cells := rowKey(&b.Rows[i]), cellsOf(&b.Rows[i])
		switch {
		case len(key) > rowKeyMax:
			why = fmt.Sprintf("a row key has %d bytes, and Bigtable takes %d", len(key), rowKeyMax)
			wrong = append(wrong, i)
			continue
		case len(cells[0][1]) > cellMax:
			why = fmt.Sprintf("a row has %d bytes, and a cell %d", len(cells[0][1]), cellMax)
			wrong = append(wrong, i)
			continue
		}
		body = append(body, t.entry(key, micros(&b.Rows[i]), cells)...)
		sent = append(sent, i)
	}
	if len(body) > bigtableMax && len(sent) > 1 {
		return push.TooLarge(b, fmt.Sprintf("the request has %d bytes, and the output sends %d", len(body), bigtableMax))
	}
	out := outputs.Delivered()
	if len(sent) > 0 {
		out = t.send(ctx, b, sent, body)
	}
	if len(wrong) == 0 || out.Verdict != outputs.VerdictDelivered && out.Verdict != outputs.VerdictRejected {
		return out
	}
	if out.Verdict == outputs.VerdictRejected && out.Rows == nil {
		return out
	}
	wrong = append(wrong, out.Rows...)
	slices.Sort(wrong)
	return outputs.Rejected(wrong, why)
}

// rowKey begins with the job's id from behind, so that jobs that begin with the same time are spread over the table, and all rows of
// a job stand together.
func rowKey(r *outputs.Row) []byte {
	key := []byte(r.Job)
	slices.Reverse(key)
	return append(append(key, '#'), r.Key()...)
}

// micros is the time of a row's cells: its revision, in thousands since tables count milliseconds. The newest cell is the row that counts.
func micros(r *outputs.Row) int64 {
	const most = 1<<53 - 1
	return int64(min(binary.BigEndian.Uint64(r.Version[24:]), most)) * 1000
}

// cellsOf are a row's columns and values: the row as jsonl has it, and counts as eight bytes, as Bigtable's own sums have them.
func cellsOf(r *outputs.Row) [][2][]byte {
	cells := [][2][]byte{{[]byte("row"), outputs.AppendJSON(nil, r)}}
	f := r.Figures
	if f == nil {
		return cells
	}
	q := f.Quantiles()
	names := [...]string{"begun", "ok", "failed", "timed_out", "p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns"}
	for i, n := range [...]uint64{f.Begun, f.OK, f.Failed, f.TimedOut, q[0], q[1], q[2], q[3], q[4]} {
		cells = append(cells, [2][]byte{[]byte(names[i]), binary.BigEndian.AppendUint64(nil, n)})
	}
	return cells
}

// entry is one row of a request, with its tag.
func (t *bigtable) entry(key []byte, micros int64, cells [][2][]byte) []byte {
	e := protowire.AppendBytes(protowire.AppendTag(nil, entryKey, protowire.BytesType), key)
	for _, c := range cells {
		set := protowire.AppendString(protowire.AppendTag(nil, setFamily, protowire.BytesType), t.family)
		set = protowire.AppendBytes(protowire.AppendTag(set, setColumn, protowire.BytesType), c[0])
		set = protowire.AppendVarint(protowire.AppendTag(set, setMicros, protowire.VarintType), uint64(micros))
		set = protowire.AppendBytes(protowire.AppendTag(set, setValue, protowire.BytesType), c[1])
		mutation := protowire.AppendBytes(protowire.AppendTag(nil, mutationSet, protowire.BytesType), set)
		e = protowire.AppendBytes(protowire.AppendTag(e, entryMutations, protowire.BytesType), mutation)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, requestEntries, protowire.BytesType), e)
}

// send sends entries, which are those rows of the batch.
func (t *bigtable) send(ctx context.Context, b outputs.Batch, rows []int, body []byte) outputs.Outcome {
	token, failed := t.tokens.get(ctx)
	if failed != nil {
		return *failed
	}
	end, failed := t.rpc.call(ctx, bigtableMethod, t.params, token, body)
	if failed != nil {
		return *failed
	}
	switch {
	case end.code == grpc.Unauthenticated:
		t.tokens.forget(token)
		return outputs.Denied("the service answered " + end.text)
	case end.code == cancelled || end.code == deadlineExceeded || end.code == grpc.Unknown:
		return outputs.Unclear("the service answered " + end.text)
	case end.code == invalidArgument:
		return push.Alone(b, bigtableOutcome(end.code, end.text))
	case end.code != grpc.OK:
		return bigtableOutcome(end.code, end.text)
	}
	return perRow(end.messages, rows)
}

// bigtableOutcome is what a status means, of a call or of a row.
func bigtableOutcome(code grpc.Code, text string) outputs.Outcome {
	switch {
	case passing(code):
		return outputs.Again(0, "the service answered "+text)
	case code == grpc.PermissionDenied:
		return outputs.Denied("the service answered " + text + ": grant the account the role Bigtable User")
	case code == notFound:
		return outputs.Rejected(nil, "the service answered "+text+": create the table with its column family, or correct the place and family=")
	}
	return outputs.Rejected(nil, "the service answered "+text)
}

// perRow reads the status of each row. A row without one is Unclear. If one row is tried again, all are: repeating one does no harm.
func perRow(messages [][]byte, rows []int) outputs.Outcome {
	statuses, err := statusesOf(messages)
	if err != nil {
		return outputs.Unclear(err.Error())
	}
	var wrong []int
	why := ""
	for i, row := range rows {
		s, has := statuses[int64(i)]
		if !has {
			return outputs.Unclear(fmt.Sprintf("the service answered %d of %d rows", len(statuses), len(rows)))
		}
		if s.code == grpc.OK {
			continue
		}
		out := bigtableOutcome(s.code, push.Clean(s.code.String()+": "+s.text, nil))
		if out.Verdict != outputs.VerdictRejected {
			return out
		}
		if wrong = append(wrong, row); why == "" {
			why = out.Why
		}
	}
	if len(wrong) > 0 {
		return outputs.Rejected(wrong, why)
	}
	return outputs.Delivered()
}

// rowStatus is that of one row.
type rowStatus struct {
	code grpc.Code
	text string
}

// statusesOf reads MutateRowsResponses: statuses by the index of the entry.
func statusesOf(messages [][]byte) (map[int64]rowStatus, error) {
	all := map[int64]rowStatus{}
	for _, m := range messages {
		err := otlp.EachField(m, func(field protowire.Number, inner []byte, _ uint64) error {
			if field != answerEntries || inner == nil {
				return nil
			}
			var at int64
			var s rowStatus
			err := otlp.EachField(inner, func(field protowire.Number, inner []byte, n uint64) error {
				switch {
				case field == answerIndex && inner == nil:
					at = int64(n)
				case field == answerStatus && inner != nil:
					return otlp.EachField(inner, func(field protowire.Number, inner []byte, n uint64) error {
						switch {
						case field == statusCode && inner == nil:
							s.code = grpc.Code(min(n, 1<<31-1))
						case field == statusText:
							s.text = string(inner)
						}
						return nil
					})
				}
				return nil
			})
			all[at] = s
			return err
		})
		if err != nil {
			return nil, errAnswer
		}
	}
	return all, nil
}
