// Package snowflake delivers rows to Snowflake, by its SQL API.
//
// It has no driver of Snowflake's. It batches and retries nothing, which the shell (runtime/outputs) does, and signs
// nothing itself (runtime/outputs/sign).
//
// Source: docs/outputs.md; Snowflake, "Snowflake SQL API reference", "Submitting a request to execute SQL statements",
// "Authenticating to the server", "MERGE".
//
// Invariants:
//
//	SNOW-1 A row replaces the one of its key only if its version is greater, whatever is sent twice.
//	SNOW-2 A repeated try has the request id of the first one, so that Snowflake answers with what it has run.
//	SNOW-3 No outcome and no error has a part of a key or a token. No value of a row is in the text of a statement.
//
// Example: Kind().Open(settings) is the sink of `--out snowflake=https://ORG-ACCOUNT.snowflakecomputing.com,user=LOADER,...`.
//
// Read statement.go, snowflake.go.
package snowflake
