package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/klauspost/compress/snappy"
)

// Bounds of a remote write.
const (
	tryMax    = 5 * time.Second // one request and its answer
	seriesMax = 2000            // in one request: some 500 KB before compression
	answerMax = 300             // bytes of a server's error message that are shown
)

// writePath is where Prometheus and most of its kind take remote writes.
const writePath = "/api/v1/write"

// Remote is a server that takes Prometheus' remote write, version 1.
type Remote struct {
	address        string // without the credentials
	user, password string
	client         *http.Client
}

// NewRemote reads an address: http://[NAME:PASSWORD@]HOST:PORT[/PATH].
func NewRemote(address string) (*Remote, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("this is no address: write http://HOST:PORT" + writePath)
	}
	r := &Remote{client: &http.Client{Timeout: tryMax}}
	if u.User != nil {
		r.user = u.User.Username()
		r.password, _ = u.User.Password()
		u.User = nil
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = writePath
	}
	u.Fragment = ""
	r.address = u.String()
	return r, nil
}

// Check asks the server to take nothing, which it refuses for the reasons for which it
// would refuse something.
func (r *Remote) Check(ctx context.Context) error { return r.send(ctx, snappy.Encode(nil, nil)) }

// Close ends connections that stand.
func (r *Remote) Close() { r.client.CloseIdleConnections() }

// refusedError is a server's no; asking again changes nothing unless it is busy.
type refusedError struct {
	status int
	text   string
}

func (e *refusedError) Error() string { return e.text }

// lasting says that trying again is of no use.
func lasting(err error) bool {
	var refused *refusedError
	return errors.As(err, &refused) && refused.status < 500 && refused.status != http.StatusTooManyRequests
}

// send sends a request that is compressed.
func (r *Remote) send(ctx context.Context, body []byte) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.address, bytes.NewReader(body))
	if err != nil {
		return errors.New("this is no address: write http://HOST:PORT" + writePath)
	}
	q.Header.Set("Content-Type", "application/x-protobuf")
	q.Header.Set("Content-Encoding", "snappy")
	q.Header.Set("User-Agent", "hyperscale")
	q.Header.Set("X-Prometheus-Remote-Write-Version", "0.1.0")
	if r.user != "" || r.password != "" {
		q.SetBasicAuth(r.user, r.password)
	}
	answer, err := r.client.Do(q)
	if err != nil {
		var failed *url.Error // it has the address in it
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return fmt.Errorf("the server cannot be reached: start it, or correct the address: %w", err)
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, answerMax)) // as much of it as came
	_ = answer.Body.Close()                                       // it is read as far as it matters
	if answer.StatusCode/100 == 2 {
		return nil
	}
	return &refusedError{answer.StatusCode, refusalText(answer.StatusCode, strings.TrimSpace(clean(string(text))))}
}

func refusalText(status int, said string) string {
	text := fmt.Sprintf("the server answered %d %s", status, http.StatusText(status))
	if said != "" && !strings.HasPrefix(said, "<") {
		text += fmt.Sprintf(" (%s)", said)
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return text + ": put a name and a password into the address, http://NAME:PASSWORD@HOST:PORT" + writePath
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return text + ": Prometheus takes results at " + writePath + " when it is started with --web.enable-remote-write-receiver"
	}
	return text
}
