// Package outputtest makes statuses and results of jobs, for tests of what makes rows of them and delivers these.
//
// It is no part of the product, and judges nothing.
//
// Source: the statuses that core/gate sends.
//
// Invariants:
//
//	OUTPUTTEST-1 A status counts each request as begun and well ended, with a latency of a millisecond.
//
// Read outputtest.go.
package outputtest
