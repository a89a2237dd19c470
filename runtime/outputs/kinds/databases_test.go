package kinds_test

import (
	"fmt"
	"strings"
	"testing"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/protocol/hostile/mongodb/mongodbtest"
	"hyperscale/runtime/protocol/hostile/postgres/postgrestest"
	"hyperscale/runtime/protocol/hostile/redis/redistest"
)

func init() {
	places["timescaledb"], places["redis"], places["mongodb"] = newTimescale, newRedis, newMongo
}

// newTimescale is a PostgreSQL with hypertables of ours.
func newTimescale(t *testing.T) outputstest.Place {
	return newPG(t, postgrestest.Start(t), outputstest.Hypertables()...)
}

// cache is a real Redis behind a relay.
type cache struct {
	*outputstest.Relay
	server *redistest.Server
}

func newRedis(t *testing.T) outputstest.Place {
	s := redistest.Start(t)
	return &cache{outputstest.NewRelay(t, s.Address()), s}
}

func (c *cache) Name() string { return "redis://" + c.Address() }

// documentFields are the parts of a row's key, its count and its version.
var documentFields = []string{"kind", "job", "datacenter", "workflow", "step", "from_ms", "to_ms", "begun", "version"}

func (c *cache) Key(r *outputs.Row) string { return documentKey(r) }

// Stored reads the fields of each hash, not the row as a whole.
func (c *cache) Stored(job string) (map[string]int, error) {
	all := map[string]int{}
	set := "hyperscale:{" + job + "}"
	for _, name := range strings.Split(c.server.Ask("SMEMBERS", set), "\n") {
		var words []string
		for _, field := range documentFields {
			word := c.server.Ask("HGET", set+":"+name, field)
			if word == "$-1" {
				word = ""
			}
			words = append(words, word)
		}
		all[strings.Join(words, "|")]++
	}
	return all, nil
}

// mongo is FerretDB behind a relay.
type mongo struct {
	*outputstest.Relay
	server *mongodbtest.Server
}

func newMongo(t *testing.T) outputstest.Place {
	s := mongodbtest.Start(t)
	return &mongo{outputstest.NewRelay(t, s.Address()), s}
}

func (m *mongo) Name() string              { return "mongodb://" + m.Address() + "/shop" }
func (m *mongo) Key(r *outputs.Row) string { return documentKey(r) }

// Stored reads the documents from PostgreSQL, where FerretDB keeps them.
func (m *mongo) Stored(job string) (map[string]int, error) {
	all := map[string]int{}
	var fields []string
	for _, name := range documentFields {
		fields = append(fields, "coalesce(_jsonb->>'"+name+"', '')")
	}
	for line := range strings.Lines(m.server.Store("hyperscale_rows", "json_build_array("+strings.Join(fields, ", ")+")", "_jsonb->>'job' = '"+job+"'")) {
		words, err := cellsOf([]byte(line))
		if err != nil {
			return nil, err
		}
		all[strings.Join(words, "|")]++
	}
	return all, nil
}

// documentKey is what such fields are of a row.
func documentKey(r *outputs.Row) string {
	begun := ""
	if r.Figures != nil {
		begun = fmt.Sprint(r.Figures.Begun)
	}
	return strings.Join([]string{
		r.Kind.String(), r.Job, r.Datacenter, r.Workflow, r.Step, fmt.Sprint(r.From.Milliseconds()), fmt.Sprint(r.To.Milliseconds()), begun, fmt.Sprintf("%x", r.Version),
	}, "|")
}
