package push

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
)

// Bounds of WriteRecords. Source: "WriteRecords", "Record", "DescribeEndpoints" and "Quotas" in the documentation of Amazon
// Timestream for LiveAnalytics.
const (
	timestreamMax      = 1 << 20   // bytes of a request; 100 records have far less
	timestreamRecords  = 100       // records of a request
	timestreamPair     = 2000      // bytes of a dimension: its name and its value
	timestreamText     = 2000      // bytes of a text
	timestreamMost     = 64        // statuses, and kinds of errors, of a record: it takes 256 measures
	timestreamName     = 250       // bytes of the name of a measure
	timestreamEndpoint = time.Hour // how long an address is kept at most
)

// Timestream is the kind `timestream`: a record of several measures for each row. A record's version is its row's, so a
// repeated row changes nothing.
func Timestream() outputs.Kind {
	return outputs.Kind{
		Name: "timestream", Engine: "push", About: "Amazon Timestream for LiveAnalytics: a record for each row, during the run and at its end",
		Place: "DATABASE/TABLE", Example: "load/rows,region=eu-west-1",
		Options:  amazonOptions(),
		Delivery: outputs.Exact,
		Limits:   outputs.Limits{Rows: timestreamRecords, Bytes: 512 << 10, Parallel: 1},
		Tested:   "a double of ours that verifies signatures with aws-sdk-go-v2 1.48.0, and that its Timestream client 1.35.25 passes; no Timestream",
		Open:     openTimestream,
	}
}

type timestream struct {
	*amazon
	database, table string
	found           string // the host that DescribeEndpoints named; empty: ask
	until           time.Time
}

func openTimestream(s *outputs.Settings) (outputs.Sink, error) {
	database, table, _ := strings.Cut(s.Place, "/")
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
	if len(database) < 3 || len(table) < 3 || strings.Trim(database+table, letters) != "" {
		return nil, fmt.Errorf("place = %q: write DATABASE/TABLE, as in %s", s.Place, s.Kind.Example)
	}
	z, err := newAmazon(s, "timestream", "ingest.timestream")
	if err != nil {
		return nil, err
	}
	return newSink(&timestream{amazon: z, database: database, table: table}), nil
}

const timestreamTarget = "Timestream_20181101."

// prepare asks where the tables of this account are.
func (s *timestream) prepare(ctx context.Context, c *client) *outputs.Outcome {
	if s.found != "" && time.Now().Before(s.until) {
		return nil
	}
	ask, err := s.ask(timestreamTarget+"DescribeEndpoints", struct{}{}, 0)
	if err != nil {
		return new(outputs.Rejected(nil, err.Error()))
	}
	a, failed := c.do(ctx, ask)
	if failed != nil {
		return new(outputs.Again(0, failed.Why)) // no row has left
	}
	if a.status/100 != 2 {
		said := amazonSaid(a)
		out := amazonJudge(outputs.Batch{}, a, &said)
		if out.Verdict == outputs.VerdictDenied {
			return &out
		}
		return new(outputs.Again(out.After, out.Why))
	}
	host, minutes, err := s.endpoint(a.body)
	if err != nil {
		return new(outputs.Again(0, clean(err.Error(), a.hide)))
	}
	s.found, s.until = host, time.Now().Add(min(time.Duration(minutes)*time.Minute, timestreamEndpoint))
	return nil
}

// endpoint reads an answer of DescribeEndpoints: a host of the service that was asked, or none.
func (s *timestream) endpoint(body []byte) (host string, minutes int64, err error) {
	var got struct {
		Endpoints []struct {
			Address string
			Minutes int64 `json:"CachePeriodInMinutes"`
		}
	}
	if err := json.Unmarshal(body, &got); err != nil || len(got.Endpoints) == 0 {
		return "", 0, fmt.Errorf("DescribeEndpoints answered no address")
	}
	host = got.Endpoints[0].Address
	if host != s.base.Host && (!strings.HasSuffix(host, ".amazonaws.com") || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "") {
		return "", 0, fmt.Errorf("DescribeEndpoints answered %q, which is no address of Amazon", host)
	}
	return host, min(max(got.Endpoints[0].Minutes, 1), 24*60), nil
}

// at moves a call to the address that was found.
func (s *timestream) at(operation string, in any) (*call, error) {
	c, err := s.ask(timestreamTarget+operation, in, timestreamMax)
	if err == nil && s.found != "" {
		u := s.base
		u.Host = s.found
		c.url = u.String()
	}
	return c, err
}

// probes ask for the table.
func (s *timestream) probes() ([]*call, error) {
	c, err := s.at("DescribeTable", map[string]string{"DatabaseName": s.database, "TableName": s.table})
	return []*call{c}, err
}

type timestreamWrite struct {
	DatabaseName, TableName string
	Records                 []timestreamRecord
}

type timestreamDimension struct{ Name, Value string }

type timestreamMeasure struct{ Name, Value, Type string }

type timestreamRecord struct {
	Dimensions       []timestreamDimension
	MeasureName      string
	MeasureValueType string
	MeasureValues    []timestreamMeasure
	Time             string
	TimeUnit         string
	Version          int64
}

func (s *timestream) encode(b outputs.Batch) (*call, error) {
	in := timestreamWrite{s.database, s.table, make([]timestreamRecord, len(b.Rows))}
	for i := range b.Rows {
		in.Records[i] = timestreamRow(&b.Rows[i])
	}
	return s.at("WriteRecords", in)
}

// timestreamRow is a row as a record, whose key is dimensions, measure name and time.
func timestreamRow(r *outputs.Row) timestreamRecord {
	out := timestreamRecord{MeasureName: r.Kind.String(), MeasureValueType: "MULTI", Time: strconv.FormatInt(r.At().UnixMilli(), 10), TimeUnit: "MILLISECONDS", Version: max(1, int64(min(revisionOf(r), math.MaxInt64)))}
	labels := model.Labels(r)
	m := map[string]any{"from_ms": uint64(r.From.Milliseconds()), "to_ms": uint64(r.To.Milliseconds())}
	switch {
	case r.Figures != nil:
		figureFields(m, r.Figures, timestreamMost)
	case r.Threshold != nil:
		labels = model.With(labels, "threshold", r.Threshold.Expression)
		m["of"], m["met"] = r.Threshold.Of, r.Threshold.Met
		if !r.Threshold.Unmeasured && !math.IsNaN(r.Threshold.Value) && !math.IsInf(r.Threshold.Value, 0) {
			m["value"] = r.Threshold.Value
		}
	case r.Event != nil:
		labels = model.With(labels, "sequence", strconv.FormatUint(r.Event.Sequence, 10))
		m["event"], m["subject"], m["detail"] = r.Event.Kind, r.Event.Subject, r.Event.Detail
	case r.Run != nil:
		m["outcome"], m["hyperscale_version"], m["program_digest"] = r.Run.Outcome, r.Run.Version, r.Run.ProgramDigest
		m["saturated"], m["thresholds_ok"] = r.Run.Saturated, r.Run.ThresholdsOK
		m["requests"], m["lost_requests"] = r.Run.Requests, r.Run.LostRequests
	}
	same := func(s string) string { return strings.Map(keepSpaces, s) }
	for _, l := range labels {
		name := tidy(l.Name, 60, same)
		out.Dimensions = append(out.Dimensions, timestreamDimension{name, tidy(l.Value, timestreamPair-len(name), same)})
	}
	for name, v := range m { //lint:orderfree they are sorted
		if measure, ok := timestreamMeasureOf(tidy(name, timestreamName, same), v); ok {
			out.MeasureValues = append(out.MeasureValues, measure)
		}
	}
	slices.SortFunc(out.MeasureValues, func(a, b timestreamMeasure) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// keepSpaces replaces control characters.
func keepSpaces(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '_'
	}
	return r
}

// timestreamMeasureOf is a value with its type; an empty text is none.
func timestreamMeasureOf(name string, v any) (timestreamMeasure, bool) {
	switch v := v.(type) {
	case uint64:
		return timestreamMeasure{name, strconv.FormatUint(min(v, math.MaxInt64), 10), "BIGINT"}, true
	case float64:
		return timestreamMeasure{name, strconv.FormatFloat(v, 'g', -1, 64), "DOUBLE"}, true
	case bool:
		return timestreamMeasure{name, strconv.FormatBool(v), "BOOLEAN"}, true
	case string:
		return timestreamMeasure{name, cut(v, timestreamText), "VARCHAR"}, v != ""
	}
	panic(fmt.Sprintf("field %s has a value of type %T", name, v))
}

// judge: a request whose records are rejected in part has written the others. A record that exists with our version, or a newer
// one, is delivered.
func (s *timestream) judge(b outputs.Batch, a *answer) outputs.Outcome {
	said := amazonSaid(a)
	if said.Type != "RejectedRecordsException" {
		if a.status == http.StatusMisdirectedRequest || said.Type == "InvalidEndpointException" {
			s.found = ""
			return outputs.Again(0, a.text())
		}
		return amazonJudge(b, a, &said)
	}
	var rejected []int
	why := ""
	for _, one := range said.Rejected {
		if one.Index < 0 || one.Index >= len(b.Rows) || slices.Contains(rejected, one.Index) {
			return outputs.Rejected(nil, a.text()+": it names record "+strconv.Itoa(one.Index)+" of "+strconv.Itoa(len(b.Rows)))
		}
		if one.Version != nil && *one.Version >= timestreamRow(&b.Rows[one.Index]).Version {
			continue
		}
		if rejected = append(rejected, one.Index); why == "" {
			why = clean(one.Reason, a.hide)
		}
	}
	if len(rejected) == 0 && len(said.Rejected) > 0 {
		return outputs.Delivered()
	}
	slices.Sort(rejected)
	return outputs.Rejected(rejected, fmt.Sprintf("the service rejects %d of %d records: %s", len(rejected), len(b.Rows), why))
}
