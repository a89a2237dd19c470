// Package push delivers rows to services that take them in the body of an HTTP request.
//
// It does not queue, batch or retry: the shell (runtime/outputs) does. It signs nothing itself
// (runtime/outputs/sign), and text formats of lines are those of runtime/outputs/lines.
//
// Source: docs/outputs.md; each kind's file names the vendor's page that it follows.
//
// Invariants:
//
//	PUSH-1 One try sends each request once, and follows no redirect: credentials go to the address that the user gave. Of
//	       a batch that needs several requests, those that were taken are not sent again.
//	PUSH-2 A try whose request never left is Again. A try that left, and whose answer did not arrive whole, is Unclear.
//	PUSH-3 No outcome and no error has a secret: what a service answers is cut, cleaned, and its secrets struck out.
//	PUSH-4 A request whose body exceeds its service's bound is not sent: the shell halves the batch.
//	PUSH-5 A row without a meaning for the service counts as delivered, and is not sent.
//
// Example: Influx().Open(settings) is the sink of `--out influxdb=http://127.0.0.1:8086,database=load`.
//
// Read push.go, client.go, back.go, judge.go, digest.go, tidy.go, then a kind: influx.go is the shortest; otlp.go,
// webhook.go, clickhouse.go, s3.go, datadog.go, newrelic.go, honeycomb.go, amazon.go (cloudwatch.go, lambda.go,
// timestream.go). several.go is for kinds that have packages of their own (google, cosmos, snowflake).
package push
