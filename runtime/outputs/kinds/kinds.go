package kinds

import (
	"slices"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/brokers"
	"hyperscale/runtime/outputs/cassandra"
	"hyperscale/runtime/outputs/documents"
	"hyperscale/runtime/outputs/files"
	"hyperscale/runtime/outputs/lines"
	"hyperscale/runtime/outputs/parquet"
	"hyperscale/runtime/outputs/program"
	"hyperscale/runtime/outputs/push"
	"hyperscale/runtime/outputs/push/cosmos"
	"hyperscale/runtime/outputs/push/google"
	"hyperscale/runtime/outputs/push/remotewrite"
	"hyperscale/runtime/outputs/push/snowflake"
	"hyperscale/runtime/outputs/relational"
)

// All returns the kinds, in the order of the manual.
func All() []outputs.Kind {
	return []outputs.Kind{
		files.JSONL(), files.CSV(), program.Kind(), relational.Postgres(), relational.MySQL(), relational.SQLite(),
		push.Influx(), remotewrite.Kind(), push.OTLP(), lines.Graphite(), lines.StatsD(), lines.DogStatsD(), lines.TelegrafStatsD(), push.Webhook(), push.ClickHouse(), push.S3(),
		relational.Timescale(), documents.Redis(), documents.MongoDB(), cassandra.Kind(), google.GCS(), google.BigQuery(), google.Bigtable(), cosmos.Kind(), snowflake.Kind(),
		push.Datadog(), push.NewRelic(), push.Honeycomb(), push.CloudWatch(), push.Lambda(), push.Timestream(), lines.Netdata(), push.Telegraf(),
		brokers.Kafka(), parquet.Kind(),
	}
}

// Find returns the kind of a name.
func Find(name string) (outputs.Kind, bool) {
	all := All()
	if at := slices.IndexFunc(all, func(k outputs.Kind) bool { return k.Name == name }); at >= 0 {
		return all[at], true
	}
	return outputs.Kind{}, false
}
