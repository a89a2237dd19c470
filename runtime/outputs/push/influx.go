package push

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/lines"
)

// influxMax bounds a request: InfluxDB 2 takes 50 MB, 1.x 25 MB, and both are slow long before.
const influxMax = 5 << 20

// Influx is the kind `influxdb`: line protocol over HTTP, by the API of version 1 (/write) or 2 (/api/v2/write).
// A point with the same tags and time replaces the one that is there, so a repeated batch does no harm.
func Influx() outputs.Kind {
	return outputs.Kind{
		Name: "influxdb", Engine: "push", About: "InfluxDB and what takes its line protocol, during the run and at its end",
		Place: "URL", Example: "http://127.0.0.1:8086,database=load",
		Options: []outputs.Option{
			{Name: "database", Help: "of InfluxDB 1, and of what has its API"},
			{Name: "bucket", Help: "of InfluxDB 2"},
			{Name: "org", Help: "of InfluxDB 2: its name or id"},
			{Name: "user", Help: "of InfluxDB 1"},
			{Name: "password", Type: outputs.OptionSecret, Help: "of that user"},
			{Name: "token", Type: outputs.OptionSecret, Help: "of InfluxDB 2"},
		},
		Delivery: outputs.Exact,
		Limits:   outputs.Limits{Rows: 1000, Bytes: 1 << 20, Parallel: 4},
		Tested:   "InfluxDB 1.6.7 (database), VictoriaMetrics 1.79.5 (database and bucket); no InfluxDB 2",
		Open:     openInflux,
	}
}

type influx struct {
	url             string
	user            string
	password, token outputs.Secret
	line            func(to []byte, r *outputs.Row) []byte
}

func openInflux(s *outputs.Settings) (outputs.Sink, error) {
	database, bucket, org, user := s.Text("database"), s.Text("bucket"), s.Text("org"), s.Text("user")
	if (database == "") == (bucket == "") {
		return nil, errors.New("database and bucket: give database=NAME for InfluxDB 1, or bucket=NAME for InfluxDB 2")
	}
	f := &influx{user: user, password: s.Secret("password"), token: s.Secret("token"), line: lines.AppendInflux}
	path, query := "/write", url.Values{"db": {database}, "precision": {"ms"}}
	if bucket != "" {
		if user != "" || f.password.Given() {
			return nil, fmt.Errorf("user = %q: InfluxDB 2 knows tokens: give token_file=FILE or token_env=VARIABLE", user)
		}
		path, query = "/api/v2/write", url.Values{"bucket": {bucket}, "precision": {"ms"}}
		if org != "" {
			query.Set("org", org)
		}
	}
	if err := f.checkUser(); err != nil {
		return nil, err
	}
	u, err := addressOf(s, path)
	if err != nil {
		return nil, err
	}
	u.RawQuery = query.Encode()
	f.url = u.String()
	return newSink(f), nil
}

func (f *influx) checkUser() error {
	if (f.user == "") == f.password.Given() {
		return errors.New("user and password: give user=NAME and password_file=FILE or password_env=VARIABLE, or none of them")
	}
	return nil
}

// Telegraf is the kind `telegraf`: lines of InfluxDB to Telegraf's http_listener_v2, or to its socket_listener over TCP.
// Source: the pages of these plugins. What Telegraf passes a repeated line on to may add it up.
func Telegraf() outputs.Kind {
	return outputs.Kind{
		Name: "telegraf", Engine: "push", About: "Telegraf, by its http_listener_v2 or its socket_listener, as lines of InfluxDB, during the run and at its end",
		Place: "URL", Example: "http://127.0.0.1:8080/telegraf",
		Options: []outputs.Option{
			{Name: "user", Help: "basic_username of the listener"},
			{Name: "password", Type: outputs.OptionSecret, Help: "basic_password of the listener"},
		},
		Delivery: outputs.AtLeastOnce,
		Limits:   outputs.Limits{Rows: 500, Bytes: 1 << 20, Parallel: 1},
		Tested:   "InfluxDB 1.6.7, which reads the same lines, and a double of ours for TCP; no Telegraf",
		Open:     openTelegraf,
	}
}

func openTelegraf(s *outputs.Settings) (outputs.Sink, error) {
	f := &influx{user: s.Text("user"), password: s.Secret("password"), line: lines.AppendTelegraf}
	if err := f.checkUser(); err != nil {
		return nil, err
	}
	if address, tcp := strings.CutPrefix(s.Place, "tcp://"); tcp {
		if f.user != "" {
			return nil, fmt.Errorf("user = %q: a socket knows no users: leave it out, or use the address of an http_listener_v2", f.user)
		}
		return lines.OpenTelegraf(address)
	}
	u, err := addressOf(s, "/telegraf")
	if err != nil {
		return nil, err
	}
	f.url = u.String()
	return newSink(f), nil
}

func (f *influx) probes() ([]*call, error) { return []*call{f.call(nil)}, nil }

func (f *influx) encode(b outputs.Batch) (*call, error) {
	var body []byte
	for i := range b.Rows {
		body = f.line(body, &b.Rows[i])
	}
	return f.call(body), nil
}

func (f *influx) call(body []byte) *call {
	return &call{
		method: http.MethodPost, url: f.url, body: body, most: influxMax, sign: f.sign,
		header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
	}
}

func (f *influx) sign(r *http.Request, _ []byte) ([]string, error) {
	switch {
	case f.token.Given():
		token, err := f.token.Read()
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Token "+token)
		return []string{token}, nil
	case f.password.Given():
		password, err := f.password.Read()
		if err != nil {
			return nil, err
		}
		r.SetBasicAuth(f.user, password)
		return []string{password, strings.TrimPrefix(r.Header.Get("Authorization"), "Basic ")}, nil
	}
	return nil, nil
}

// judge: InfluxDB answers 400 (1.x) and 422 (2) when it has taken all points but some, and names the first of those.
// Repeating a point does no harm, so halves find the rows.
func (f *influx) judge(b outputs.Batch, a *answer) outputs.Outcome {
	if len(b.Rows) == 0 && a.status == http.StatusBadRequest && strings.Contains(string(a.body), "requires points") {
		return outputs.Delivered() // what InfluxDB 2 answers to a probe that it would take
	}
	out := standard(b, a)
	if a.status == http.StatusBadRequest || a.status == http.StatusUnprocessableEntity {
		return alone(b, out)
	}
	if a.status == http.StatusNotFound && out.Verdict == outputs.VerdictRejected {
		out.Why = a.text() + ": create the database or the bucket, or correct database=, bucket= and the address"
	}
	return out
}
