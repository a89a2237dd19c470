// Package serverstest starts real servers for tests of outputs, on free ports and with data of their own.
//
// It has no doubles (runtime/outputs/outputstest) and nothing that vendors wrote as libraries (vendorstest).
//
// Source: the manuals of InfluxDB 1.6, VictoriaMetrics 1.79 and ClickHouse 18.16, as Debian has them.
//
// Invariants:
//
//	REAL-1 A server ends with its test, and its data are in the test's folder.
//	REAL-2 A test whose server is missing is skipped with its name; in CI it fails, but for ClickHouse.
//
// Example: address := serverstest.Influx(t) is InfluxDB with an empty database named load.
//
// Read servers.go, influx.go, clickhouse.go.
package serverstest
