package cassandra

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/wire"
)

const example = "cassandras://load@cassandra-1.internal,cassandra-2.internal/load,password_file=/run/secrets/cassandra"

// rowMax bounds a row, in bytes: a server takes 16 MiB of one write.
const rowMax = 8 << 20

// Kind is the kind `cassandra`.
func Kind() outputs.Kind {
	return outputs.Kind{
		Name: "cassandra", Engine: "documents", About: "Apache Cassandra: a row for each row, with its distribution, during the run and at its end", Place: "URL", Example: example,
		Options: []outputs.Option{
			{Name: "password", Type: outputs.OptionSecret, Help: "of the user of the address"},
			{Name: "ca", Type: outputs.OptionText, Help: "file of an authority of your own, in PEM, for cassandras"},
			{Name: "consistency", Type: outputs.OptionChoice, Default: "LOCAL_QUORUM", Choices: []string{"LOCAL_QUORUM", "QUORUM", "EACH_QUORUM", "ALL"}, Help: "which replicas have a row before it counts as delivered"},
			{Name: "create", Type: outputs.OptionBool, Default: "true", Help: "create the tables if they are not there; false: `hyperscale outputs schema cassandra` prints them"},
		},
		Delivery: outputs.Exact, Limits: outputs.Limits{Rows: 200},
		Tested: "a double of ours, which passes Apache's client gocql 2.1.2, and whose rows that reads back, through a relay that refuses, hangs, cuts and loses answers; no Cassandra",
		Schema: schema(),
		Open: func(s *outputs.Settings) (outputs.Sink, error) {
			at, err := serverOf(s)
			if err != nil {
				return nil, err
			}
			return &sink{server: *at, create: s.Bool("create"), known: map[partition]bool{}}, nil
		},
		ReadBack: readBack,
	}
}

// levels are consistencies, as the protocol writes them.
var levels = map[string]uint16{"QUORUM": 4, "ALL": 5, "LOCAL_QUORUM": 6, "EACH_QUORUM": 7}

// server is where a keyspace is.
type server struct {
	addresses  []string // coordinators, one of which is asked
	user       string
	rows, days string // the tables
	password   outputs.Secret
	tls        *tls.Config // but for its name; nil: in clear
	level      uint16
}

// serverOf reads cassandra://[USER@]HOST[:PORT][,HOST[:PORT]...]/KEYSPACE, or cassandras.
func serverOf(s *outputs.Settings) (*server, error) {
	wrong := errors.New("this is no address of servers and a keyspace: write " + example)
	scheme, rest, _ := strings.Cut(s.Place, "://")
	rest, keyspace, _ := strings.Cut(rest, "/")
	at := &server{password: s.Secret("password"), level: levels[s.Text("consistency")]}
	if scheme != "cassandra" && scheme != "cassandras" {
		return nil, wrong
	}
	if keyspace == "" || len(keyspace) > 48 || strings.Trim(strings.ToLower(keyspace), "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return nil, fmt.Errorf("keyspace = %q: write at most 48 letters, digits and _, as in %s", keyspace, example)
	}
	at.rows, at.days = `"`+keyspace+`".hyperscale_rows`, `"`+keyspace+`".hyperscale_days`
	if user, hosts, has := strings.Cut(rest, "@"); has {
		if strings.Contains(user, ":") {
			return nil, errors.New("an address with a password would be in the list of processes and in the shell's history: leave it out, and use password_file=FILE or password_env=VARIABLE")
		}
		at.user, rest = user, hosts
	}
	here := true
	for _, one := range strings.Split(rest, ",") {
		host, port, err := net.SplitHostPort(one)
		if err != nil {
			host, port = strings.Trim(one, "[]"), "9042"
		}
		if host == "" || port == "" || strings.ContainsAny(host, "?#@ ") || strings.Contains(host, ":") != strings.HasPrefix(one, "[") {
			return nil, wrong
		}
		ip := net.ParseIP(host)
		here = here && (host == "localhost" || ip != nil && ip.IsLoopback())
		at.addresses = append(at.addresses, net.JoinHostPort(host, port))
	}
	if (at.user != "") != at.password.Given() {
		return nil, errors.New("a user and a password belong together: write cassandras://USER@HOST/KEYSPACE, and add password_file=FILE or password_env=VARIABLE")
	}
	if at.user != "" && scheme == "cassandra" && !here {
		return nil, errors.New("cassandra:// would send the password in clear: write cassandras://")
	}
	return at, at.trust(scheme == "cassandras", s.Text("ca"))
}

func (s *server) trust(secure bool, ca string) (err error) {
	switch {
	case secure:
		s.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	case ca != "":
		return errors.New("ca is of no use in clear: write cassandras://")
	}
	if ca != "" {
		if s.tls.RootCAs, err = wire.Roots(ca); err != nil {
			return fmt.Errorf("ca: %w", err)
		}
	}
	return nil
}

// partition is one of the table of rows.
type partition struct {
	job string
	day uint32
}

// sink keeps rows in the tables of a keyspace.
type sink struct {
	server
	create bool
	first  int // of addresses: where to connect next
	conn   *conn
	known  map[partition]bool // partitions that the table of days has
}

// connect connects to the first address that can be reached, unless there is a connection.
func (s *sink) connect(ctx context.Context) (fail *failure) {
	for range s.addresses {
		if s.conn != nil {
			return nil
		}
		address := s.addresses[s.first%len(s.addresses)]
		var c *conn
		if c, fail = s.server.connect(ctx, address); fail == nil {
			if fail = s.ready(ctx, c); fail == nil {
				s.conn = c
				return nil
			}
			c.close()
		}
		fail.why = address + ": " + fail.why
		if fail.verdict != outputs.VerdictDenied {
			fail.verdict = outputs.VerdictAgain // no row went out
		}
		if s.first++; fail.verdict == outputs.VerdictDenied || ctx.Err() != nil {
			return fail
		}
	}
	return fail
}

// ready prepares the statements, and creates the tables if they are not there. No row has gone out.
func (s *sink) ready(ctx context.Context, c *conn) *failure {
	defer c.bound(ctx)()
	fail := s.prepare(c)
	if fail != nil && fail.code == codeInvalid && s.create {
		for _, create := range []string{createRows(s.rows), createDays(s.days)} {
			if _, fail = c.run(create, query{level: s.level}); fail != nil && fail.code != codeExists {
				return s.absent(fail)
			}
		}
		fail = s.prepare(c)
	}
	return s.absent(fail)
}

func (s *sink) prepare(c *conn) (fail *failure) {
	if c.row, fail = c.prepare(insertRow(s.rows)); fail == nil {
		c.day, fail = c.prepare(insertDay(s.days))
	}
	return fail
}

// absent says what mends a failure that no row has caused.
func (s *sink) absent(fail *failure) *failure {
	if fail == nil || fail.verdict == outputs.VerdictDenied {
		return fail
	}
	fail.verdict = outputs.VerdictAgain
	if fail.code == codeInvalid || fail.code == codeConfig {
		fail.why += ": create the keyspace, and the tables as `hyperscale outputs schema cassandra` prints them, which create=true does"
	}
	return fail
}

// Check connects, and writes a row of a job that is none: the right to write is what matters.
func (s *sink) Check(ctx context.Context) error {
	probe := outputs.Row{Kind: outputs.RowEvent, Job: "hyperscale-check", Started: time.Unix(0, 0)}
	if out := s.Deliver(ctx, outputs.Batch{Rows: []outputs.Row{probe}}); out.Verdict != outputs.VerdictDelivered {
		return errors.New(out.Why)
	}
	return nil
}

// Deliver implements outputs.Sink. Rows go out one by one: a server rejects a batch of more than 50 KiB, and a batch with one bad row.
func (s *sink) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	if fail := s.connect(ctx); fail != nil {
		return fail.outcome()
	}
	var all []execution
	var sent, bad []int
	days, why := map[partition]bool{}, ""
	for i := range b.Rows {
		r := &b.Rows[i]
		values := valuesOf(r)
		if n := len(values[len(values)-2]); n > rowMax {
			bad, why = append(bad, i), fmt.Sprintf("a row has %d bytes, and the output sends %d", n, rowMax)
			continue
		}
		if p := (partition{r.Job, dayOf(r)}); !s.known[p] && !days[p] {
			days[p] = true
			all, sent = append(all, execution{s.conn.day, [][]byte{text(p.job), day(p.day), whole(writeTime(r))}}), append(sent, -1)
		}
		all, sent = append(all, execution{s.conn.row, values}), append(sent, i)
	}
	ends, broken := s.conn.execute(ctx, s.level, all)
	if broken != nil {
		s.Close()
		return broken.outcome()
	}
	for n, end := range ends {
		switch {
		case end == nil:
		case end.verdict == outputs.VerdictRejected && sent[n] >= 0:
			bad, why = append(bad, sent[n]), cmp.Or(why, end.why)
		default: // repeating rows that are there does no harm
			s.Close()
			if end.verdict == outputs.VerdictRejected {
				end.verdict = outputs.VerdictAgain
			}
			return end.outcome()
		}
	}
	s.remember(days)
	if bad == nil {
		return outputs.Delivered()
	}
	slices.Sort(bad)
	return outputs.Rejected(bad, why)
}

// knownMax bounds how many partitions a sink remembers: a job has one a day.
const knownMax = 1000

// remember notes partitions that the table of days has.
func (s *sink) remember(days map[partition]bool) {
	if len(s.known) > knownMax {
		clear(s.known)
	}
	maps.Copy(s.known, days)
}

// Close implements outputs.Sink.
func (s *sink) Close() {
	if s.conn != nil {
		s.conn.close()
		s.conn = nil
	}
}
