package operator

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"hyperscale/core/retry"
)

// Bounds of a watch.
const (
	watchSpan  = 25 * time.Second // after which the API server ends it, and the next one goes on
	watchMax   = 30 * time.Second // after which a silent server has lost it
	eventMax   = 4 << 20          // bytes
	listedFor  = 10 * time.Minute // then the next list compares all, whatever watches told
	afterMax   = 15 * time.Second // longest wait that a server imposes
	retryFirst = time.Second
)

// backoff is between tries of one thing.
var backoff = retry.Backoff{Base: retryFirst, Cap: afterMax}

// change is an event of a watch.
type change struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// keep follows a namespace until ctx ends.
func (o *Operator) keep(ctx context.Context, namespace string) {
	var wait time.Duration
	for ctx.Err() == nil {
		all, revision, err := o.kube.list(ctx, namespace)
		if err != nil {
			wait = backoff.After(wait)
			o.troubled(ctx, "the load tests cannot be listed", namespace, err)
			_ = sleep(ctx, waitOf(err, wait)) // the loop asks ctx
			continue
		}
		wait = 0
		o.listed(namespace, all)
		o.follow(ctx, namespace, revision)
	}
}

// follow watches a namespace from a revision on, until only a list can go on.
func (o *Operator) follow(ctx context.Context, namespace, revision string) {
	var wait time.Duration
	for began := time.Now(); ctx.Err() == nil && time.Since(began) < listedFor; {
		err := o.kube.watch(ctx, namespace, &revision, func(kind string, t *loadTest) { o.changed(kind, t) })
		switch {
		case err == nil:
			wait = 0
		case statusOf(err) == http.StatusGone:
			return
		default:
			wait = backoff.After(wait)
			o.troubled(ctx, "a watch has ended", namespace, err)
			_ = sleep(ctx, waitOf(err, wait)) // the loop asks ctx
		}
	}
}

// watch tells of changes behind a revision, and moves it on with each. It returns nil when its time is over.
func (k *kube) watch(ctx context.Context, namespace string, revision *string, tell func(kind string, t *loadTest)) error {
	watching, cancel := context.WithTimeout(ctx, watchMax)
	defer cancel()
	q := url.Values{
		"watch": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {*revision}, "timeoutSeconds": {strconv.Itoa(int(watchSpan / time.Second))},
	}
	body, err := k.open(watching, http.MethodGet, testsPath(namespace)+"?"+q.Encode(), nil)
	if err != nil {
		return overdue(ctx, watching, err)
	}
	defer func() { _ = body.Close() }() // it was only read
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, eventMax)
	for lines.Scan() {
		var e change
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("an event of the watch cannot be read: %w", err)
		}
		if e.Type == "ERROR" {
			var s kubeStatus
			if json.Unmarshal(e.Object, &s) != nil || s.Code == 0 {
				return errors.New("the watch ended with an error that is no Status")
			}
			return &refusal{Status: s.Code, Code: s.Reason, Message: s.Message}
		}
		var t loadTest
		if err := json.Unmarshal(e.Object, &t); err != nil {
			return fmt.Errorf("an event of the watch has no object: %w", err)
		}
		if t.Metadata.Revision == "" {
			return errors.New("an event of the watch has no revision")
		}
		if e.Type != "BOOKMARK" {
			if t.Metadata.UID == "" || t.Metadata.Namespace != namespace {
				return errors.New("an event of the watch is of another namespace, or of an object without an identity")
			}
			tell(e.Type, &t)
		}
		*revision = t.Metadata.Revision
	}
	return overdue(ctx, watching, lines.Err())
}

// overdue is nil for a watch that only took its whole time.
func overdue(ctx, watching context.Context, err error) error {
	if err != nil && ctx.Err() == nil && errors.Is(watching.Err(), context.DeadlineExceeded) {
		return nil
	}
	return err
}
