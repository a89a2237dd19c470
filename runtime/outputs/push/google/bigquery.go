package google

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/push"
)

const (
	bigQueryScope = "https://www.googleapis.com/auth/bigquery"
	bigQueryURL   = "https://bigquery.googleapis.com"
	// loadsPause keeps one table below 1,500 load jobs a day, which no project may exceed.
	loadsPause = time.Minute
	pollMin    = 50 * time.Millisecond
	pollMax    = 5 * time.Second
)

// BigQuery is the kind `bigquery`: a load job for each batch. The id of a job follows from its rows and works once, so a repeated
// batch finds its job.
func BigQuery() outputs.Kind {
	return outputs.Kind{
		Name: "bigquery", Engine: "push", About: "Google BigQuery: a load job for each batch, one a minute at most, during the run and at its end",
		Place: "PROJECT.DATASET", Example: "shop.load,key_file=account.json",
		Options: []outputs.Option{
			{Name: "table", Default: "hyperscale_rows", Help: "letters, digits and _"},
			{Name: "location", Help: "of the dataset, as in EU or us-east1; BigQuery finds it if it is not given, but for repeated batches outside of US and EU"},
			keyOption(),
			{Name: "create", Type: outputs.OptionBool, Default: "true", Help: "create the table if it is not there; false: `hyperscale outputs schema bigquery` prints it"},
			{Name: "endpoint", Help: "address of a service other than Google's, as in http://127.0.0.1:9050"},
		},
		Delivery: outputs.Exact,
		Limits:   outputs.Limits{Rows: 20_000, Bytes: 8 << 20, Age: loadsPause, Timeout: 5 * time.Minute, Parallel: 1, Window: loadsPause},
		Tested:   "a double of ours that verifies tokens with golang-jwt 5.3.1, and that Google's client 1.86.2 accepts",
		Schema:   tableSQL(),
		Open:     openBigQuery,
	}
}

type bigQuery struct {
	client                            *push.Client
	tokens                            *tokens
	base                              url.URL
	project, dataset, table, location string
	create                            bool

	digest  string // of the batch whose jobs failed
	attempt int    // jobs of it that failed
}

func openBigQuery(s *outputs.Settings) (outputs.Sink, error) {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	at := strings.LastIndexByte(s.Place, '.')
	if at <= 0 || strings.Trim(s.Place[:at], letters+"-.:") != "" || !isName(s.Place[at+1:]) {
		return nil, fmt.Errorf("place = %q: write PROJECT.DATASET, as in %s", s.Place, s.Kind.Example)
	}
	q := &bigQuery{client: push.NewClient(), project: s.Place[:at], dataset: s.Place[at+1:], table: s.Text("table"), location: s.Text("location"), create: s.Bool("create")}
	if !isName(q.table) {
		return nil, fmt.Errorf("table = %q: write letters, digits and _; the dataset is part of the place", q.table)
	}
	if strings.Trim(strings.ToLower(q.location), letters+"-") != "" {
		return nil, fmt.Errorf("location = %q: write one as in EU or us-east1", q.location)
	}
	u, err := endpointOf(s, bigQueryURL)
	if err != nil {
		return nil, err
	}
	q.base, q.tokens = *u, newTokens(q.client, s, bigQueryScope)
	return q, nil
}

// isName says that a text is a name of a dataset or a table.
func isName(s string) bool {
	return s != "" && len(s) <= 1024 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Close implements outputs.Sink.
func (q *bigQuery) Close() { q.client.Close() }

func (q *bigQuery) ask(ctx context.Context, method, path string, query url.Values, body []byte, kind string) (*push.Answer, *outputs.Outcome) {
	u := q.base
	u.Path, u.RawQuery = path, query.Encode()
	r := &push.Request{Method: method, URL: u.String(), Body: body}
	if body != nil {
		r.Header = http.Header{"Content-Type": {kind}}
	}
	return q.tokens.do(ctx, r)
}

func (q *bigQuery) path(rest string) string { return "/bigquery/v2/projects/" + q.project + rest }

// Check implements outputs.Sink. It creates the table, names each column that rows have, and asks for the right to start jobs by a
// query that is not run.
func (q *bigQuery) Check(ctx context.Context) error {
	tables := q.path("/datasets/" + q.dataset + "/tables")
	a, failed := q.ask(ctx, http.MethodGet, tables+"/"+q.table, nil, nil, "")
	if failed == nil && a.Status == http.StatusNotFound && q.create {
		if a, failed = q.make(ctx, tables); failed == nil && a.Status == http.StatusConflict { // another one has created it
			a, failed = q.ask(ctx, http.MethodGet, tables+"/"+q.table, nil, nil, "")
		}
	}
	if failed == nil {
		failed = new(q.judge(outputs.Batch{}, a))
	}
	if failed.Verdict != outputs.VerdictDelivered {
		return errors.New(failed.Why)
	}
	var there struct{ Schema struct{ Fields []column } }
	if json.Unmarshal(a.Body, &there) != nil {
		return errors.New("the service answers no table: correct endpoint=")
	}
	if name := missing(there.Schema.Fields, columns()); name != "" {
		return fmt.Errorf("the table lacks column %s, or has it with another type: give table=NAME, or add the columns that `hyperscale outputs schema bigquery` prints", name)
	}
	a, failed = q.ask(ctx, http.MethodPost, q.path("/queries"), nil, []byte(`{"query":"SELECT 1","useLegacySql":false,"dryRun":true}`), "application/json")
	if failed == nil {
		failed = new(q.judge(outputs.Batch{}, a))
	}
	if failed.Verdict != outputs.VerdictDelivered {
		return errors.New(failed.Why)
	}
	return nil
}

// reference names the table.
func (q *bigQuery) reference() map[string]string {
	return map[string]string{"projectId": q.project, "datasetId": q.dataset, "tableId": q.table}
}

func (q *bigQuery) make(ctx context.Context, tables string) (*push.Answer, *outputs.Outcome) {
	body, err := json.Marshal(map[string]any{
		"tableReference": q.reference(), "schema": map[string]any{"fields": columns()}, "clustering": map[string]any{"fields": []string{"job", "kind"}},
		"timePartitioning": map[string]string{"type": "DAY", "field": "started"},
	})
	if err != nil {
		return nil, new(outputs.Rejected(nil, err.Error()))
	}
	return q.ask(ctx, http.MethodPost, tables, nil, body, "application/json")
}

func (q *bigQuery) judge(b outputs.Batch, a *push.Answer) outputs.Outcome {
	out := judge(b, a)
	if a.Status == http.StatusNotFound {
		out.Why = a.Text() + ": create the dataset, and the table, which create=true does"
	}
	return out
}

// Deliver implements outputs.Sink. A job that failed never runs again: its batch goes on with the next id, and so does
// one of another process.
func (q *bigQuery) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	digest := push.Digest(b.Rows)
	if digest != q.digest {
		q.digest, q.attempt = digest, 0
	}
	var lines []byte
	for i := range b.Rows {
		var err error
		if lines, err = appendLine(lines, &b.Rows[i]); err != nil {
			return outputs.Rejected(nil, err.Error())
		}
	}
	for {
		id := jobID(digest, q.attempt)
		j, out := q.start(ctx, b, id, lines)
		if j == nil {
			return out
		}
		if j, out = q.wait(ctx, j, id); j == nil {
			return out
		}
		if out = j.outcome(b); out.Verdict == outputs.VerdictDelivered {
			return out
		}
		q.attempt++
		if !j.found {
			return out
		}
	}
}

// jobID is that of an attempt, from 0.
func jobID(digest string, attempt int) string {
	id := "hyperscale_" + digest
	if attempt > 0 {
		id += fmt.Sprint("_", attempt)
	}
	return id
}

// start starts a job, or finds the one that is there.
func (q *bigQuery) start(ctx context.Context, b outputs.Batch, id string, lines []byte) (*job, outputs.Outcome) {
	if b.Try > 1 { // it is perhaps there, and a look is cheaper than the rows
		if j, out := q.look(ctx, id); j != nil || out.Verdict != outputs.VerdictNone {
			return j, out
		}
	}
	body, kind, err := q.upload(id, lines)
	if err != nil {
		return nil, outputs.Rejected(nil, err.Error())
	}
	a, failed := q.ask(ctx, http.MethodPost, "/upload"+q.path("/jobs"), url.Values{"uploadType": {"multipart"}}, body, kind)
	if failed != nil {
		return nil, *failed
	}
	if a.Status == http.StatusConflict {
		j, out := q.look(ctx, id)
		if j == nil && out.Verdict == outputs.VerdictNone {
			out = outputs.Rejected(nil, "job "+id+" is in use, and not in this location: give location= of the dataset")
		}
		return j, out
	}
	if a.Status/100 != 2 {
		return nil, q.judge(b, a)
	}
	return parseJob(a.Body)
}

// look reads the state of a job. Neither a job nor a verdict: there is none.
func (q *bigQuery) look(ctx context.Context, id string) (*job, outputs.Outcome) {
	query := url.Values{}
	if q.location != "" {
		query.Set("location", q.location)
	}
	a, failed := q.ask(ctx, http.MethodGet, q.path("/jobs/"+id), query, nil, "")
	switch {
	case failed != nil:
		return nil, *failed
	case a.Status == http.StatusNotFound:
		return nil, outputs.Outcome{}
	case a.Status/100 != 2:
		return nil, q.judge(outputs.Batch{}, a)
	}
	j, out := parseJob(a.Body)
	if j != nil {
		j.found = true
	}
	return j, out
}

// wait waits for the end of a job. Without one the batch is Unclear, and its next try finds the job.
func (q *bigQuery) wait(ctx context.Context, j *job, id string) (*job, outputs.Outcome) {
	found := j.found
	for pause := pollMin; j.Status.State != "DONE"; pause = min(2*pause, pollMax) {
		select {
		case <-ctx.Done():
			return nil, outputs.Unclear("job " + id + " is still " + push.Clean(j.Status.State, nil))
		case <-time.After(pause):
		}
		next, out := q.look(ctx, id)
		if next == nil {
			if out.Verdict == outputs.VerdictNone {
				out = outputs.Again(0, "job "+id+" has vanished: give location= of the dataset")
			}
			return nil, out
		}
		j = next
	}
	j.found = found
	return j, outputs.Outcome{}
}

// upload is the body of a request that starts a job with its rows.
func (q *bigQuery) upload(id string, lines []byte) (body []byte, kind string, err error) {
	reference := map[string]string{"projectId": q.project, "jobId": id}
	if q.location != "" {
		reference["location"] = q.location
	}
	about, err := json.Marshal(map[string]any{
		"jobReference": reference,
		"configuration": map[string]any{"load": map[string]any{
			"destinationTable": q.reference(), "sourceFormat": "NEWLINE_DELIMITED_JSON", "writeDisposition": "WRITE_APPEND", "createDisposition": "CREATE_NEVER",
		}},
	})
	if err != nil {
		return nil, "", fmt.Errorf("a load job: %w", err)
	}
	boundary := "rows_" + id // a line of JSON begins with a brace
	var b bytes.Buffer
	b.WriteString("--" + boundary + "\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n")
	b.Write(about)
	b.WriteString("\r\n--" + boundary + "\r\nContent-Type: application/octet-stream\r\n\r\n")
	b.Write(lines)
	b.WriteString("\r\n--" + boundary + "--\r\n")
	return b.Bytes(), "multipart/related; boundary=" + boundary, nil
}
