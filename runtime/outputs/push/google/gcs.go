package google

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/push"
)

const (
	storageScope = "https://www.googleapis.com/auth/devstorage.read_write"
	storageURL   = "https://storage.googleapis.com"
	nameMax      = 1024 // bytes of an object's name
)

// GCS is the kind `gcs`: an object of compressed lines of JSON for each batch. The name of an object is the key of its rows, so a
// repeated batch writes the same object again.
func GCS() outputs.Kind {
	return outputs.Kind{
		Name: "gcs", Engine: "push", About: "Google Cloud Storage: an object of lines of JSON, compressed by gzip, for each batch",
		Place: "gs://BUCKET/PREFIX", Example: "gs://results/load,key_file=account.json",
		Options: []outputs.Option{
			keyOption(),
			{Name: "endpoint", Help: "address of a service other than Google's, as in http://127.0.0.1:4443"},
		},
		Delivery: outputs.Exact,
		Limits:   outputs.Limits{Rows: 5000, Bytes: 4 << 20, Age: 30 * time.Second, Timeout: 30 * time.Second, Parallel: 1},
		Tested:   "a double of ours that verifies tokens with golang-jwt 5.3.1, and that Google's storage client 1.70.0 accepts",
		Open:     openGCS,
	}
}

type gcs struct {
	client *push.Client
	tokens *tokens
	base   url.URL
	bucket string
	prefix string // empty, or with a slash at its end
}

// endpointOf is the address of a service, Google's own if none is given.
func endpointOf(s *outputs.Settings, own string) (*url.URL, error) {
	endpoint := s.Text("endpoint")
	if endpoint == "" {
		endpoint = own
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("endpoint = %q is no address: write it as in http://127.0.0.1:4443", endpoint)
	}
	u.Path = ""
	return u, nil
}

func openGCS(s *outputs.Settings) (outputs.Sink, error) {
	rest, ok := strings.CutPrefix(s.Place, "gs://")
	bucket, prefix, _ := strings.Cut(rest, "/")
	if !ok || bucket == "" || strings.Trim(bucket, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		return nil, fmt.Errorf("place = %q: write gs://BUCKET/PREFIX, as in %s", s.Place, s.Kind.Example)
	}
	u, err := endpointOf(s, storageURL)
	if err != nil {
		return nil, err
	}
	g := &gcs{client: push.NewClient(), base: *u, bucket: bucket}
	g.tokens = newTokens(g.client, s, storageScope)
	if prefix = strings.Trim(path.Clean("/"+prefix), "/"); prefix != "" {
		g.prefix = prefix + "/"
	}
	return g, nil
}

// Check implements outputs.Sink. It asks for the rights that writing an object, and writing it again, need.
func (g *gcs) Check(ctx context.Context) error {
	rights := []string{"storage.objects.create", "storage.objects.delete"}
	u := g.base
	u.Path, u.RawQuery = "/storage/v1/b/"+g.bucket+"/iam/testPermissions", url.Values{"permissions": rights}.Encode()
	a, failed := g.tokens.do(ctx, &push.Request{Method: http.MethodGet, URL: u.String()})
	if failed == nil {
		failed = new(g.judge(outputs.Batch{}, a))
	}
	if failed.Verdict != outputs.VerdictDelivered {
		return errors.New(failed.Why)
	}
	var said struct{ Permissions []string }
	if json.Unmarshal(a.Body, &said) != nil {
		return errors.New("the service answers no permissions: correct endpoint=")
	}
	for _, right := range rights {
		if !slices.Contains(said.Permissions, right) {
			return fmt.Errorf("the account has no %s in bucket %s: grant it the role Storage Object User there", right, g.bucket)
		}
	}
	return nil
}

// Deliver implements outputs.Sink.
func (g *gcs) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	body, err := push.ZippedLines(b.Rows)
	if err != nil {
		return outputs.Rejected(nil, err.Error())
	}
	name := g.prefix + push.ObjectName(b.Rows)
	if len(name) > nameMax {
		return outputs.Rejected(nil, fmt.Sprintf("the object's name has %d bytes: give a prefix with which it has at most %d", len(name), nameMax))
	}
	u := g.base
	u.Path, u.RawQuery = "/upload/storage/v1/b/"+g.bucket+"/o", url.Values{"uploadType": {"media"}, "name": {name}}.Encode()
	a, failed := g.tokens.do(ctx, &push.Request{Method: http.MethodPost, URL: u.String(), Header: http.Header{"Content-Type": {"application/gzip"}}, Body: body})
	if failed != nil {
		return *failed
	}
	return g.judge(b, a)
}

// Close implements outputs.Sink.
func (g *gcs) Close() { g.client.Close() }

func (g *gcs) judge(b outputs.Batch, a *push.Answer) outputs.Outcome {
	out := judge(b, a)
	if a.Status == http.StatusNotFound {
		out.Why = a.Text() + ": create the bucket, or correct its name"
	}
	return out
}
