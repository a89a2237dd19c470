package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"hyperscale/runtime/protocol/hostile/authority"
	hostile "hyperscale/runtime/protocol/hostile/postgres"
)

// askHostilePostgres plays an entry of the catalogue of PostgreSQL servers, and returns what went wrong.
func askHostilePostgres(t *testing.T, e *hostile.Entry, by askedBy, deadline time.Duration) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	h := &hostileSQL{
		client: fmt.Sprintf("\"postgres://%s@%s/%s\", password = %q, statements = \"unnamed\"", hostile.User, s.Address(), hostile.Database, hostile.Password),
		ask:    [2]string{`"select $1::text as v", args = [key]`, `"select $1::text as v", args = ["k"]`},
		size:   e.Ask.Size, pause: e.Ask.Pause, once: e.Ask.Once, late: e.Want.Late(), kind: string(e.Want.Kind), body: e.Want.Body, next: hostile.Next,
		password: hostile.Password, proved: s.Proved(), by: by, deadline: deadline,
	}
	if e.Ask.TLS {
		h.client += ", sslmode = \"require\""
	}
	if err := h.play(t); err != nil || e.Ask.Once {
		return err
	}
	counts, givenUp := s.Counts(), h.first.TimedOut+h.first.Cancelled+h.then.TimedOut+h.then.Cancelled
	switch {
	case s.Breach() != "":
		return errors.New(s.Breach())
	case uint64(counts.Cancels) > givenUp:
		return fmt.Errorf("%d requests to cancel, and %d operations timed out or were cancelled", counts.Cancels, givenUp)
	case counts.Reused != (e.Want.Reuse == hostile.ReuseMust):
		return fmt.Errorf("reused %v", counts.Reused)
	}
	return nil
}

// Every behaviour of the catalogue of PostgreSQL servers, whether answers are counted, read by expect, or
// read by a function.
func TestCatalogueOfPostgres(t *testing.T) {
	t.Parallel()
	authority.Roots()
	all := hostile.All()
	playEach(t, len(all), func(at int) (string, bool) { return all[at].Name, all[at].Want.Late() || all[at].Ask.Pause > 0 }, func(at int, by askedBy, deadline time.Duration) error {
		return askHostilePostgres(t, &all[at], by, deadline)
	})
}
