package outputs

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/output"
	"hyperscale/core/stats"
)

// lineMax bounds a row that is read, in bytes.
const lineMax = 4 << 20

// TimeLayout is how formats write times: UTC, as wide as the precision of rows.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// rowJSON is a row as formats of JSON have it. Fields may be added, never renamed.
type rowJSON struct {
	Kind       string            `json:"kind"`
	Job        string            `json:"job"`
	Test       string            `json:"test"`
	Started    string            `json:"started"`
	Version    string            `json:"version"`
	Datacenter string            `json:"datacenter,omitempty"`
	Workflow   string            `json:"workflow,omitempty"`
	Step       string            `json:"step,omitempty"`
	StepKind   string            `json:"step_kind,omitempty"`
	FromMS     int64             `json:"from_ms"`
	ToMS       int64             `json:"to_ms"`
	Rebased    bool              `json:"rebased,omitempty"`
	Tags       map[string]string `json:"tags,omitempty"`

	*figuresJSON
	Run       *runJSON       `json:"run,omitempty"`
	Threshold *thresholdJSON `json:"threshold,omitempty"`
	Event     *eventJSON     `json:"event,omitempty"`

	Why string `json:"why,omitempty"` // of a dead letter
}

type figuresJSON struct {
	Begun       uint64            `json:"begun"`
	OK          uint64            `json:"ok"`
	Failed      uint64            `json:"failed"`
	TimedOut    uint64            `json:"timed_out"`
	Cancelled   uint64            `json:"cancelled"`
	Dropped     uint64            `json:"dropped"`
	Skipped     uint64            `json:"skipped"`
	BytesIn     uint64            `json:"bytes_in"`
	BytesOut    uint64            `json:"bytes_out"`
	ActiveUsers uint64            `json:"active_users"`
	Statuses    map[string]uint64 `json:"statuses,omitempty"`
	Errors      map[string]uint64 `json:"errors,omitempty"`
	latencyJSON
}

type latencyJSON struct {
	P50         uint64   `json:"p50_ns"`
	P90         uint64   `json:"p90_ns"`
	P95         uint64   `json:"p95_ns"`
	P99         uint64   `json:"p99_ns"`
	P999        uint64   `json:"p999_ns"`
	Min         uint64   `json:"min_ns"`
	Max         uint64   `json:"max_ns"`
	Sum         uint64   `json:"sum_ns"`
	BucketNS    []uint64 `json:"bucket_ns,omitempty"`
	BucketCount []uint64 `json:"bucket_count,omitempty"`
	Blunt       bool     `json:"blunt,omitempty"`
}

type runJSON struct {
	Ended         string `json:"ended,omitempty"`
	Outcome       string `json:"outcome,omitempty"`
	ProgramDigest string `json:"program_digest,omitempty"`
	Version       string `json:"hyperscale_version,omitempty"`
	Saturated     bool   `json:"saturated"`
	ThresholdsOK  bool   `json:"thresholds_ok"`
	Requests      uint64 `json:"requests"`
	LostRequests  uint64 `json:"lost_requests"`
}

type thresholdJSON struct {
	Expression string  `json:"expression"`
	Value      float64 `json:"value"`
	Of         string  `json:"of"`
	Met        bool    `json:"met"`
	Unmeasured bool    `json:"unmeasured,omitempty"`
}

type eventJSON struct {
	Sequence uint64 `json:"sequence"`
	Kind     string `json:"kind"`
	Subject  string `json:"subject,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

// AppendJSON appends a row as one object, without a line end.
func AppendJSON(dst []byte, r *Row) []byte { return appendLetter(dst, r, "") }

// appendLetter appends a row with the reason for which a place rejects it.
func appendLetter(dst []byte, r *Row, why string) []byte {
	j := rowJSON{
		Kind: r.Kind.String(), Job: Text(r.Job), Test: Text(r.Test), Started: r.Started.UTC().Format(TimeLayout), Version: hex.EncodeToString(r.Version[:]),
		Datacenter: Text(r.Datacenter), Workflow: Text(r.Workflow), Step: Text(r.Step), StepKind: StepKindName(r.StepKind),
		FromMS: r.From.Milliseconds(), ToMS: r.To.Milliseconds(), Rebased: r.Rebased, Why: why,
	}
	if len(r.Tags) > 0 {
		j.Tags = map[string]string{}
		for _, t := range r.Tags {
			j.Tags[Text(t.Name)] = Text(t.Value)
		}
	}
	if f := r.Figures; f != nil {
		j.figuresJSON = figuresToJSON(f)
	}
	if u := r.Run; u != nil {
		j.Run = &runJSON{Outcome: u.Outcome, ProgramDigest: u.ProgramDigest, Version: u.Version, Saturated: u.Saturated, ThresholdsOK: u.ThresholdsOK, Requests: u.Requests, LostRequests: u.LostRequests}
		if !u.Ended.IsZero() {
			j.Run.Ended = u.Ended.UTC().Format(TimeLayout)
		}
	}
	if t := r.Threshold; t != nil {
		j.Threshold = &thresholdJSON{Expression: Text(t.Expression), Value: t.Value, Of: t.Of, Met: t.Met, Unmeasured: t.Unmeasured}
	}
	if e := r.Event; e != nil {
		j.Event = &eventJSON{Sequence: e.Sequence, Kind: e.Kind, Subject: Text(e.Subject), Detail: Text(e.Detail)}
	}
	b, err := json.Marshal(&j)
	if err != nil { // a value of a threshold that is no number
		j.Threshold = &thresholdJSON{Expression: j.Threshold.Expression, Of: j.Threshold.Of, Unmeasured: true}
		b, _ = json.Marshal(&j)
	}
	return append(dst, b...)
}

func figuresToJSON(f *Figures) *figuresJSON {
	q := f.Quantiles()
	j := &figuresJSON{
		Begun: f.Begun, OK: f.OK, Failed: f.Failed, TimedOut: f.TimedOut, Cancelled: f.Cancelled, Dropped: f.Dropped, Skipped: f.Skipped,
		BytesIn: f.BytesIn, BytesOut: f.BytesOut, ActiveUsers: f.ActiveUsers,
	}
	j.latencyJSON = latencyJSON{
		Blunt: f.Blunt, P50: q[0], P90: q[1], P95: q[2], P99: q[3], P999: q[4], Min: f.Latency.Min, Max: f.Latency.Max, Sum: f.Latency.Sum,
	}
	j.BucketNS, j.BucketCount = f.Buckets()
	for _, c := range f.Statuses {
		if j.Statuses == nil {
			j.Statuses = map[string]uint64{}
		}
		j.Statuses[StatusName(c.Status)] = c.Count
	}
	for _, c := range f.Errors {
		if j.Errors == nil {
			j.Errors = map[string]uint64{}
		}
		j.Errors[Text(c.Kind)] = c.Count
	}
	return j
}

// StatusName is a status as formats write it.
func StatusName(status uint32) string {
	if status == stats.StatusOther {
		return stats.KindOther
	}
	return strconv.FormatUint(uint64(status), 10)
}

// StepKindName is a kind of step as formats write it; empty if it has none.
func StepKindName(k message.StepKind) string { return output.StepKindName(k) }

// StepKindOf is the kind of a name that StepKindName wrote; none of others.
func StepKindOf(name string) message.StepKind {
	for k := message.StepNone + 1; name != "" && k <= message.StepBeside; k++ {
		if StepKindName(k) == name {
			return k
		}
	}
	return message.StepNone
}

// errRow is of text that is no row.
var errRow = errors.New("it is no row of hyperscale")

// ParseJSON reads what AppendJSON wrote, in at most 4 MiB.
func ParseJSON(b []byte) (Row, error) {
	if len(b) > lineMax {
		return Row{}, fmt.Errorf("a line has %d bytes: %w", len(b), errRow)
	}
	j := rowJSON{figuresJSON: &figuresJSON{}}
	if err := json.Unmarshal(b, &j); err != nil {
		return Row{}, fmt.Errorf("%w: %w", errRow, err)
	}
	r := Row{Job: bytesOf(j.Job), Test: bytesOf(j.Test), Datacenter: bytesOf(j.Datacenter), Workflow: bytesOf(j.Workflow), Step: bytesOf(j.Step), Rebased: j.Rebased,
		From: time.Duration(j.FromMS) * time.Millisecond, To: time.Duration(j.ToMS) * time.Millisecond}
	kind := output.RowKindOf(j.Kind)
	at, err := time.Parse(TimeLayout, j.Started)
	version, wrong := hex.DecodeString(j.Version)
	if kind == RowNone || err != nil || wrong != nil || len(version) != len(r.Version) {
		return Row{}, fmt.Errorf("kind %q, started %q, version %q: %w", j.Kind, j.Started, j.Version, errRow)
	}
	r.Kind, r.Started = kind, at
	copy(r.Version[:], version)
	r.StepKind = StepKindOf(j.StepKind)
	for _, name := range slices.Sorted(maps.Keys(j.Tags)) {
		r.Tags = append(r.Tags, message.Tag{Name: bytesOf(name), Value: bytesOf(j.Tags[name])})
	}
	if r.Kind.Counts() {
		if r.Figures, err = j.figures(); err != nil {
			return Row{}, err
		}
	}
	return r, j.rest(&r)
}

func (j *rowJSON) rest(r *Row) error {
	if u := j.Run; u != nil {
		r.Run = &Run{Outcome: u.Outcome, ProgramDigest: u.ProgramDigest, Version: u.Version, Saturated: u.Saturated, ThresholdsOK: u.ThresholdsOK, Requests: u.Requests, LostRequests: u.LostRequests}
		if u.Ended != "" {
			at, err := time.Parse(TimeLayout, u.Ended)
			if err != nil {
				return fmt.Errorf("ended %q: %w", u.Ended, errRow)
			}
			r.Run.Ended = at
		}
	}
	if j.Threshold != nil {
		r.Threshold = (*Threshold)(j.Threshold)
		r.Threshold.Expression = bytesOf(r.Threshold.Expression)
	}
	if j.Event != nil {
		r.Event = (*Event)(j.Event)
		r.Event.Subject, r.Event.Detail = bytesOf(r.Event.Subject), bytesOf(r.Event.Detail)
	}
	return nil
}

func (j *figuresJSON) figures() (*Figures, error) {
	f := &Figures{Begun: j.Begun, OK: j.OK, Failed: j.Failed, TimedOut: j.TimedOut, Cancelled: j.Cancelled, Dropped: j.Dropped, Skipped: j.Skipped,
		BytesIn: j.BytesIn, BytesOut: j.BytesOut, ActiveUsers: j.ActiveUsers, Blunt: j.Blunt}
	var err error
	if f.Latency, err = LatencyOf(j.BucketNS, j.BucketCount, [3]uint64{j.Min, j.Max, j.Sum}); err != nil {
		return nil, err
	}
	for name, n := range j.Statuses { //lint:orderfree AddStatus sorts them
		status, err := strconv.ParseUint(name, 10, 32)
		if err != nil && name != stats.KindOther {
			return nil, fmt.Errorf("status %q: %w", name, errRow)
		}
		f.Statuses = stats.AddStatus(f.Statuses, message.StatusCount{Status: uint32(status), Count: n})
	}
	for kind, n := range j.Errors { //lint:orderfree AddError sorts them
		f.Errors = stats.AddError(f.Errors, message.ErrorCount{Kind: bytesOf(kind), Count: n})
	}
	return f, nil
}

// LatencyOf makes a distribution of its pairs and of its smallest and largest value and sum.
func LatencyOf(bounds, counts []uint64, ends [3]uint64) (message.Histogram, error) {
	if len(bounds) != len(counts) {
		return message.Histogram{}, fmt.Errorf("%d buckets, %d counts: %w", len(bounds), len(counts), errRow)
	}
	var h stats.Histogram
	for i := range bounds {
		h.RecordN(bounds[i], counts[i])
	}
	out := h.Wire()
	if out.Count > 0 {
		out.Min, out.Max, out.Sum = ends[0], ends[1], ends[2]
	}
	if _, err := stats.FromWire(out); err != nil {
		return message.Histogram{}, fmt.Errorf("%w: %w", errRow, err)
	}
	return out, nil
}
