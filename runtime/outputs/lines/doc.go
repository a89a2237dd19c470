// Package lines has the text formats of time series, and delivers them over TCP, UDP and unix sockets.
//
// It does not queue, batch or retry: the shell (runtime/outputs) does. Lines over HTTP are runtime/outputs/push.
//
// Source: InfluxDB's "Line protocol reference"; Graphite's "The plaintext protocol"; the metric types of StatsD,
// "Datagram format" of DogStatsD, Telegraf's plugins for StatsD and sockets, and Netdata's "StatsD" page.
//
// Invariants:
//
//	LINES-1 No name leaves its place: what a file, a user or an answer named never ends a line, a tag or a path.
//	LINES-2 Names that differ stay different, unless they are longer than a place can be.
//	LINES-3 A datagram has at most 1,432 bytes and whole lines.
//
// Example: AppendInflux(nil, row) is one line of InfluxDB, with its end.
//
// Read influx.go, graphite.go, statsd.go, then stream.go and datagrams.go.
package lines
