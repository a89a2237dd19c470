// Package google delivers rows to services of Google Cloud.
//
// It has no client library of Google's: those are judges of its tests. It batches and retries nothing, which the shell
// (runtime/outputs) does, and signs nothing itself (runtime/outputs/sign).
//
// Source: docs/outputs.md; Google, "Using OAuth 2.0 for Server to Server Applications", "Objects: insert", "Buckets:
// testIamPermissions"; BigQuery, "Job" and "Quotas and limits";
// Bigtable, google/bigtable/v2/bigtable.proto and "Quotas and limits".
//
// Invariants:
//
//	GOOGLE-1 A token is kept until shortly before its end, and dropped when a service rejects it.
//	GOOGLE-2 No outcome and no error has a part of a key or a token.
//	GOOGLE-3 The name under which a service keeps a batch follows from its rows: repeating one changes nothing.
//	GOOGLE-4 A batch loads by one job. It has a next one only if that failed, which loads no row.
//	GOOGLE-5 A row of Bigtable is delivered once its own status says so.
//
// Example: GCS().Open(settings) is the sink of `--out gcs=gs://results/load,key_file=account.json`.
//
// Read account.go, token.go, judge.go, gcs.go; columns.go, job.go, bigquery.go; rpc.go, bigtable.go.
package google
