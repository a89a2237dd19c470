package cosmos

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/push"
	"hyperscale/runtime/outputs/sign"
)

const (
	apiVersion = "2018-12-31"
	partition  = "/job"
	// replacesMax bounds how often one try reads a document that others replace meanwhile.
	replacesMax = 5
)

// Kind is the kind `cosmosdb`: a document for each row, by the REST API.
func Kind() outputs.Kind {
	return outputs.Kind{
		Name: "cosmosdb", Engine: "push", About: "Azure Cosmos DB for NoSQL: a document for each row, with its distribution, during the run and at its end",
		Place: "URL", Example: "https://ACCOUNT.documents.azure.com,database=load,container=rows,key_file=cosmos.key",
		Options: []outputs.Option{
			{Name: "database", Help: "which must exist"},
			{Name: "container", Help: "which must exist, with the partition key /job"},
			{Name: "key", Type: outputs.OptionSecret, Help: "primary or secondary key of the account"},
		},
		Delivery: outputs.Exact,
		Limits:   outputs.Limits{Rows: 100, Bytes: 1 << 20, Timeout: 30 * time.Second, Parallel: 4},
		Tested:   "a double of ours that Microsoft's client azcosmos 1.4.1 accepts",
		Open:     open,
	}
}

type sink struct {
	client *push.Client
	base   url.URL
	link   string // of the container: dbs/D/colls/C
	key    outputs.Secret

	mu   sync.Mutex
	done map[uint64]int // rows that are there, of batches that have no end yet
}

func open(s *outputs.Settings) (outputs.Sink, error) {
	u, err := url.Parse(s.Place)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("place = %q is no address of an account: write %s", s.Place, s.Kind.Example)
	}
	names := [2]string{s.Text("database"), s.Text("container")}
	for i, name := range []string{"database", "container"} {
		if v := names[i]; v == "" || len(v) > 255 || strings.ContainsAny(v, `/\?#%`) || v != strings.TrimSpace(v) {
			return nil, fmt.Errorf("%s = %q: give %s=NAME of at most 255 characters, without / \\ ? # %%", name, v, name)
		}
	}
	if !s.Secret("key").Given() {
		return nil, errors.New("key: give key_file=FILE or key_env=VARIABLE with a key of the account")
	}
	return &sink{client: push.NewClient(), base: url.URL{Scheme: u.Scheme, Host: u.Host}, link: "dbs/" + names[0] + "/colls/" + names[1], key: s.Secret("key"), done: map[uint64]int{}}, nil
}

// Check implements outputs.Sink. It reads the container, and what its partition key is.
func (s *sink) Check(ctx context.Context) error {
	a, failed := s.ask(ctx, http.MethodGet, "colls", s.link, nil, nil)
	if failed == nil && a.Status != http.StatusOK {
		failed = new(judge(a))
	}
	if failed != nil {
		return errors.New(failed.Why)
	}
	var said struct {
		PartitionKey struct{ Paths []string }
	}
	if json.Unmarshal(a.Body, &said) != nil || len(said.PartitionKey.Paths) != 1 || said.PartitionKey.Paths[0] != partition {
		return fmt.Errorf("the container's partition key is %.60q: create one whose partition key is %s", said.PartitionKey.Paths, partition)
	}
	return nil
}

// Deliver implements outputs.Sink.
func (s *sink) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	s.mu.Lock()
	from := s.done[b.Number]
	s.mu.Unlock()
	var wrong []int
	why := ""
	for i := from; i < len(b.Rows); i++ {
		out := s.put(ctx, &b.Rows[i])
		switch out.Verdict {
		case outputs.VerdictDelivered:
		case outputs.VerdictRejected:
			if wrong = append(wrong, i); why == "" {
				why = out.Why
			}
		default:
			s.mu.Lock()
			if s.done[b.Number] = i; len(wrong) > 0 {
				s.done[b.Number] = wrong[0] // to say again which rows are rejected
			}
			s.mu.Unlock()
			return out
		}
	}
	s.mu.Lock()
	delete(s.done, b.Number)
	s.mu.Unlock()
	if len(wrong) > 0 {
		return outputs.Rejected(wrong, why)
	}
	return outputs.Delivered()
}

// Close implements outputs.Sink.
func (s *sink) Close() { s.client.Close() }

// put creates a row's document, or replaces an older one.
func (s *sink) put(ctx context.Context, r *outputs.Row) outputs.Outcome {
	body := documentOf(r)
	if len(body) > documentMax {
		return outputs.Rejected(nil, fmt.Sprintf("a document has %d bytes, and the service takes %d", len(body), documentMax))
	}
	a, failed := s.ask(ctx, http.MethodPost, "docs", s.link, r, &write{body: body})
	switch {
	case failed != nil:
		return *failed
	case a.Status != http.StatusConflict:
		return judge(a)
	}
	link := s.link + "/docs/" + idOf(r)
	for range replacesMax {
		there, failed := s.ask(ctx, http.MethodGet, "docs", link, r, nil)
		if failed != nil {
			return *failed
		}
		switch there.Status {
		case http.StatusOK:
		case http.StatusNotFound:
			return outputs.Again(0, "others delete the document of "+r.Key())
		default:
			return judge(there)
		}
		if versionOf(there.Body) >= hex.EncodeToString(r.Version[:]) {
			return outputs.Delivered()
		}
		match := there.Header.Get("Etag")
		if match == "" {
			return outputs.Again(0, "an answer names no ETag of the document of "+r.Key()+", without which it may replace a newer one: let what stands before the service pass that head")
		}
		a, failed := s.ask(ctx, http.MethodPut, "docs", link, r, &write{body: body, match: match})
		if failed != nil {
			return *failed
		}
		if a.Status != http.StatusPreconditionFailed {
			return judge(a)
		}
	}
	return outputs.Again(0, "others replace the document of "+r.Key()+" all the time")
}

// write is what a request writes.
type write struct {
	body  []byte
	match string // the document that it replaces; empty: any
}

// ask sends a signed request about a resource. The kind of a request to create is that of what is created, and its link the parent's.
func (s *sink) ask(ctx context.Context, method, kind, link string, r *outputs.Row, what *write) (*push.Answer, *outputs.Outcome) {
	key, err := push.Head(s.key)
	if err != nil {
		return nil, new(outputs.Denied(err.Error()))
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	head, err := sign.Cosmos(key, method, kind, link, date)
	if err != nil {
		return nil, new(outputs.Denied(err.Error()))
	}
	u := s.base
	u.Path = "/" + link
	if method == http.MethodPost {
		u.Path += "/" + kind
	}
	q := &push.Request{Method: method, URL: u.String(), Hide: []string{key, head}, Header: http.Header{
		"Authorization": {head}, "X-Ms-Date": {date}, "X-Ms-Version": {apiVersion}, "Accept": {"application/json"},
	}}
	if r != nil {
		q.Header.Set("X-Ms-Documentdb-Partitionkey", partitionOf(r))
	}
	if what != nil {
		q.Body = what.body
		q.Header.Set("Content-Type", "application/json")
		if what.match != "" {
			q.Header.Set("If-Match", what.match)
		}
	}
	return s.client.Do(ctx, q)
}

// judge says what an answer about one row means.
func judge(a *push.Answer) outputs.Outcome {
	var said struct{ Code, Message string }
	if a.Status/100 != 2 && json.Unmarshal(a.Body, &said) == nil && said.Code != "" {
		message, _, _ := strings.Cut(said.Message, "ActivityId") // and what follows it is of the request
		a.Body = []byte(said.Code + ": " + message)
	}
	switch a.Status {
	case http.StatusTooManyRequests:
		ms, _ := strconv.ParseInt(a.Header.Get("X-Ms-Retry-After-Ms"), 10, 32) // 0: it does not say
		return outputs.Again(min(max(time.Duration(ms)*time.Millisecond, a.After()), time.Hour), a.Text()+": the container has too few request units: raise its throughput")
	case http.StatusGone, http.StatusPreconditionFailed, http.StatusConflict, 449: // moved, replaced, retry with
		return outputs.Again(a.After(), a.Text())
	case http.StatusUnauthorized:
		return outputs.Denied(a.Text() + ": give a key of this account, and set the clock of this machine")
	case http.StatusNotFound:
		return outputs.Rejected(nil, a.Text()+": create the database, and a container whose partition key is "+partition)
	}
	out := push.Standard(outputs.Batch{}, a)
	if a.Status == http.StatusForbidden && strings.Contains(string(a.Body), "quota") {
		return outputs.Again(a.After(), a.Text()+": the partition of the job is full: it holds 20 GB")
	}
	return out
}
