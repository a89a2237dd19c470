package remotewrite

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"hyperscale/runtime/export"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/push"
)

// sink sends samples to one server.
type sink struct {
	client      *push.Client
	url         string
	prefix      string
	user        string
	password    outputs.Secret
	token       outputs.Secret
	tenant      string
	number      uint64 // of the batch that was tried last
	taken       int    // requests of it that need no other try
	wrong       []int  // rows of it that the server never takes
	wrongReason string
}

// Check asks the server to take nothing, which it rejects for the reasons for which it would reject rows.
func (s *sink) Check(ctx context.Context) error {
	if out := s.send(ctx, outputs.Batch{}, false, export.Encode(nil, time.Time{})); out.Verdict != outputs.VerdictDelivered {
		return errors.New(out.Why)
	}
	return nil
}

// Deliver sends a request for each time, the oldest first. What an earlier try has sent is not sent again.
func (s *sink) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	if b.Number != s.number {
		s.number, s.taken, s.wrong, s.wrongReason = b.Number, 0, nil, ""
	}
	n := 0
	for _, m := range momentsOf(b.Rows, s.prefix) {
		for _, part := range m.parts() {
			if n++; n <= s.taken {
				continue
			}
			switch out := s.send(ctx, b, b.Again || part.shared, export.Encode(part.samples, m.at)); out.Verdict {
			case outputs.VerdictDelivered:
			case outputs.VerdictRejected, outputs.VerdictSmaller:
				s.reject(m.rows, out.Why)
			default:
				return out
			}
			s.taken = n
		}
		s.reject(m.bare, "rows without sums, as files have them: this kind takes those of a job that runs")
	}
	s.number = 0
	if len(s.wrong) > 0 {
		slices.Sort(s.wrong)
		return outputs.Rejected(slices.Compact(s.wrong), s.wrongReason)
	}
	return outputs.Delivered()
}

// part is the samples of one request.
type part struct {
	samples []export.Sample
	shared  bool
}

// parts are the requests of a moment. Gauges are apart, so that an older one takes no counter with it.
func (m *moment) parts() (all []part) {
	for chunk := range slices.Chunk(m.counted.samples, export.SamplesMax) {
		all = append(all, part{chunk, false})
	}
	for chunk := range slices.Chunk(m.shared.samples, export.SamplesMax) {
		all = append(all, part{chunk, true})
	}
	return all
}

// reject notes rows that the server never takes.
func (s *sink) reject(rows []int, why string) {
	s.wrong = append(s.wrong, rows...)
	if s.wrongReason == "" && len(rows) > 0 {
		s.wrongReason = why
	}
}

// Close implements outputs.Sink.
func (s *sink) Close() { s.client.Close() }

// send sends one request. The server may have its samples, or newer ones of their series, if it says there.
func (s *sink) send(ctx context.Context, b outputs.Batch, there bool, body []byte) outputs.Outcome {
	q := &push.Request{Method: http.MethodPost, URL: s.url, Body: body, Header: http.Header{
		"Content-Type": {"application/x-protobuf"}, "Content-Encoding": {"snappy"}, "X-Prometheus-Remote-Write-Version": {"0.1.0"},
	}}
	if s.tenant != "" {
		q.Header.Set("X-Scope-OrgID", s.tenant)
	}
	if err := s.sign(q); err != nil {
		return outputs.Denied(err.Error())
	}
	a, failed := s.client.Do(ctx, q)
	if failed != nil {
		return *failed
	}
	return judge(b, there, a)
}

// sign reads the secret anew, which may have changed.
func (s *sink) sign(q *push.Request) error {
	switch {
	case s.token.Given():
		token, err := push.Head(s.token)
		if err != nil {
			return err
		}
		q.Header.Set("Authorization", "Bearer "+token)
		q.Hide = []string{token}
	case s.user != "":
		password, err := push.Head(s.password)
		if err != nil {
			return err
		}
		r := http.Request{Header: q.Header}
		r.SetBasicAuth(s.user, password)
		q.Hide = []string{password, strings.TrimPrefix(r.Header.Get("Authorization"), "Basic ")}
	}
	return nil
}

// judge says what an answer means. Prometheus takes a sample again whose series has that value at that time as its newest
// one. An older one that is repeated is out of order, and there.
func judge(b outputs.Batch, there bool, a *push.Answer) outputs.Outcome {
	switch a.Status {
	case http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity:
	case http.StatusOK:
		if strings.Contains(a.Header.Get("Content-Type"), "html") {
			return outputs.Rejected(nil, "the service answered with a page: correct the address and its path")
		}
		return outputs.Delivered()
	default:
		return push.Standard(b, a)
	}
	said := strings.ToLower(string(a.Body))
	switch {
	case strings.Contains(said, "out of order") || strings.Contains(said, "out-of-order"):
		if there {
			return outputs.Delivered()
		}
		return outputs.Rejected(nil, a.Text()+": another sender writes these series: give each sink tags of its own")
	case strings.Contains(said, "duplicate"):
		return outputs.Rejected(nil, a.Text()+": another sender writes other values of these series: give each sink tags of its own")
	case strings.Contains(said, "out of bounds"), strings.Contains(said, "too old"):
		return outputs.Rejected(nil, a.Text()+": the server takes nothing so old: set its storage.tsdb.out_of_order_time_window; later samples have these counts")
	}
	return outputs.Rejected(nil, a.Text())
}
