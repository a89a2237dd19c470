// Package cosmos delivers rows to Azure Cosmos DB, as documents.
//
// It has no client library of Microsoft's, which judges its tests. It batches and retries nothing, which the shell
// (runtime/outputs) does, and signs nothing itself (runtime/outputs/sign).
//
// Source: docs/outputs.md; Microsoft, "Azure Cosmos DB: REST API reference", "Azure Cosmos DB service quotas".
//
// Invariants:
//
//	COSMOS-1 A document is replaced only by a row of a greater version, and only if the document has not changed since it was read.
//	COSMOS-2 A repeated try goes on behind the rows of its batch that are there, so a container that is slow gets ahead.
//	COSMOS-3 No outcome and no error has the key.
//
// Example: Kind().Open(settings) is the sink of `--out cosmosdb=https://ACCOUNT.documents.azure.com,database=load,container=rows,key_file=F`.
//
// Read cosmos.go, document.go.
package cosmos
