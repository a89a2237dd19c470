package kinds_test

import (
	"testing"

	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/protocol/hostile/postgres/postgrestest"
)

func init() {
	places["timescaledb"] = newTimescale
}

// newTimescale is a PostgreSQL with hypertables of ours.
func newTimescale(t *testing.T) outputstest.Place {
	return newPG(t, postgrestest.Start(t), outputstest.Hypertables()...)
}
