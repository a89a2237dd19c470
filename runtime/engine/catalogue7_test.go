package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	hostile "hyperscale/runtime/protocol/hostile/mysql"
)

// queryHostile plays an entry of the catalogue of MySQL servers, and returns what went wrong.
func queryHostile(t *testing.T, e *hostile.Entry, by askedBy, deadline time.Duration) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	mode, asks := "simple", `"select 1"`
	if e.Ask.Prepared {
		mode, asks = "prepared", `"select ?", args = [key]`
	}
	h := &hostileSQL{
		client: fmt.Sprintf("%q, user = %q, password = %q, statements = %q", s.URL(), hostile.User, hostile.Password, mode),
		ask:    [2]string{asks, `"select 2"`},
		size:   e.Ask.Size, pause: e.Ask.Pause, once: e.Ask.Once, late: e.Want.Late(), kind: string(e.Want.Kind), body: e.Want.Body, next: hostile.Next,
		password: hostile.Password, proved: s.Proved(), by: by, deadline: deadline,
	}
	if e.TLS {
		h.client += `, sslmode = "require"`
	}
	if err := h.play(t); err != nil || e.Ask.Once {
		return err
	}
	counts, sent := s.Counts(), h.first.Sent+h.then.Sent
	switch {
	case s.Breach() != "":
		return errors.New(s.Breach())
	case e.Want.Reuse != hostile.ReuseEither && counts.Reused != (e.Want.Reuse == hostile.ReuseMust):
		return fmt.Errorf("reused %v", counts.Reused)
	case sent < uint64(counts.Operations), e.Server.Greeting == nil && e.Server.Secure == nil && e.Server.Prepare == nil && sent > uint64(counts.Operations):
		return fmt.Errorf("%d operations are sent, and %d came", sent, counts.Operations)
	case e.Server.Prepare != nil && e.Want.Late() && sent != uint64(counts.Operations):
		return fmt.Errorf("an operation counts as sent that is not: %d and %d, and %d came", h.first.Sent, h.then.Sent, counts.Operations)
	}
	return nil
}

// Every behaviour of the catalogue of MySQL servers, whether answers are counted, read by expect, or
// read by a function.
func TestCatalogueOfMySQL(t *testing.T) {
	t.Parallel()
	all := hostile.All()
	playEach(t, len(all), func(at int) (string, bool) { return all[at].Name, all[at].Want.Late() || all[at].Ask.Pause > 0 }, func(at int, by askedBy, deadline time.Duration) error {
		return queryHostile(t, &all[at], by, deadline)
	})
}
