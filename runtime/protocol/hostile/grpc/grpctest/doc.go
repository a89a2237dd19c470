// Package grpctest is a server of gRPC for tests, which counts the calls, messages and statuses that
// it served.
//
// It stands on net/http, whose HTTP/2 shares nothing with our codec, and frames messages by itself.
// The server of grpc-go counts in bench/grpc, a module of its own.
//
// Example:
//
//	s := grpctest.Start(t, false)
//	file := `shop = grpc.client("` + s.URL + `", schema = grpc.proto("echo.proto"))`
//	calls := s.Count().Calls
package grpctest
