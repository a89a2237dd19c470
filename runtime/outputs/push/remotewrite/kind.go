package remotewrite

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/push"
)

// writePath is where Prometheus and most of its kind take remote writes.
const writePath = "/api/v1/write"

// rowsMax is more than one file of rows has: a batch is not cut, so that its last rows know the end of the job.
const rowsMax = 1 << 20

// Kind is the row of the table of kinds.
func Kind() outputs.Kind {
	return outputs.Kind{
		Name: "prometheus", Engine: "push", About: "Prometheus and what takes its remote write: counters of each step, in windows, at the times of the rows",
		Place: "URL", Example: "http://127.0.0.1:9090,prefix=hyperscale_rows_",
		Options: []outputs.Option{
			{Name: "prefix", Default: "hyperscale_rows_", Help: "begin of the names of metrics; hyperscale_ only where the server does not scrape the gates, whose metrics have these names"},
			{Name: "user", Help: "name for basic authentication, with password"},
			{Name: "password", Type: outputs.OptionSecret, Help: "password of the user"},
			{Name: "token", Type: outputs.OptionSecret, Help: "bearer token, instead of a user"},
			{Name: "tenant", Help: "value of the head X-Scope-OrgID, for Mimir and its like"},
		},
		Delivery: outputs.Exact,
		Limits:   outputs.Limits{Rows: rowsMax, Bytes: outputs.QueueMax, Timeout: 30 * time.Second},
		Tested:   "Prometheus 2.42.0",
		Schema:   schema,
		Named:    true,
		Sums:     true,
		Open:     open,
	}
}

func open(s *outputs.Settings) (outputs.Sink, error) {
	u, err := url.Parse(s.Place)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("place = %q is no address: write %s", s.Place, "http://HOST:PORT"+writePath)
	}
	if u.User != nil || u.Fragment != "" {
		return nil, fmt.Errorf("place = an address with a user or a fragment: leave it out, and give user and password_file")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = writePath
	}
	out := &sink{client: push.NewClient(), url: u.String(), prefix: s.Text("prefix"), user: s.Text("user"), password: s.Secret("password"), token: s.Secret("token"), tenant: s.Text("tenant")}
	switch {
	case !metricName(out.prefix):
		return nil, fmt.Errorf("prefix = %q begins no name of a metric: write letters, digits and _, and no digit first", out.prefix)
	case (out.user == "") == out.password.Given():
		return nil, fmt.Errorf("user = %q: give user and password_file or password_env together", out.user)
	case out.user != "" && out.token.Given():
		return nil, fmt.Errorf("token: give either it, or user = %q with its password", out.user)
	case strings.ContainsAny(out.user, ":\r\n\x00") || strings.ContainsAny(out.tenant, "\r\n\x00"):
		return nil, fmt.Errorf("user = %q, tenant = %q: a name has no line end, and a user no colon", out.user, out.tenant)
	}
	return out, nil
}

func metricName(s string) bool {
	return s != "" && len(s) <= 64 && (s[0] < '0' || s[0] > '9') && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

const schema = `Names begin with prefix (hyperscale_rows_). Labels: run (the job's id), test, tag_NAME for each tag, and those named below.
The time of a sample is the start of the job plus the end of its window.
requests_total                  counter    workflow, step, request, result: ok, failed, timed_out, cancelled
requests_started_total          counter    workflow, step, request
requests_dropped_total          counter    workflow, step, request
requests_skipped_total          counter    workflow, step, request
responses_total                 counter    workflow, step, request, status
errors_total                    counter    workflow, step, request, kind
received_bytes_total            counter    workflow, step, request
sent_bytes_total                counter    workflow, step, request
request_duration_seconds        histogram  workflow, step, request: latency in 20 buckets
datacenter_requests_total       counter    datacenter, workflow, step, result
active_vus                      gauge      workflow, at the end of the newest window
job_start_timestamp_seconds     gauge
checks_total                    counter    workflow, check, result: passed, failed, skipped; at the end
threshold_met, threshold_value  gauge      workflow, threshold; at the end
job_state                       gauge      state; 1 for that of the end, at the end
job_duration_seconds            gauge      at the end
Those of a function's requests have the label request, so a sum over steps takes request="". Those beside the steps have kind="beside".
`
