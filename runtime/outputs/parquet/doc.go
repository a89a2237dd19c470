// Package parquet is the output that keeps rows in files of Parquet, in a folder.
//
// It reads no such file. A batch is a file: a file has its footer when it appears, so a crash loses what has not been written,
// which is what came in the last 5 minutes.
//
// Source: the format's specification at parquet.apache.org (version 1 of data pages, plain values, lists of three levels,
// Thrift's compact protocol).
//
// Invariants:
//
//	PARQUET-1 A file appears whole or not at all.
//	PARQUET-2 The same rows have the same name and the same bytes: a repeated batch replaces its file by an equal one.
//	PARQUET-3 Each column has a value, or a list, of each row.
//
// Read sink.go, columns.go, file.go, thrift.go.
package parquet
