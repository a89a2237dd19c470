// Package api answers HTTP on a gate: jobs, their events as they happen, their results, the cluster.
//
// It owns no job and decides none. Inside is a client (core/client) that follows the owners of jobs, so
// each gate answers for every job, and what a gate rejects has one implementation. It is not the admin
// listener, which runtime/metrics has: probes and scrapes need no token.
//
// Source: docs/api.md; docs/security.md, "The HTTP API".
//
// Invariants:
//
//	API-1 A request below /v1 needs a token (runtime/api/tokens), or a client's certificate of the cluster where the API
//	      speaks HTTPS and nodes have some, and its role must have the right that
//	      the route names. Only POST /v1/session reads a token elsewhere: in its body.
//	API-2 A caller that no token admits takes no place, and its connection ends. Everything is bounded: connections, requests in flight, streams, bodies, headers, lists, and what waits for a slow
//	      reader. Beyond a bound the answer is 503 with Retry-After, beyond a
//	      token's quarter 429, and the gate's machine sees nothing.
//	API-3 openapi.json is made from the table of routes and the Go structs that they answer with.
//	API-4 Each call that changes something is one line in the log: who, what, which job, how it ended. No token and
//	      no body is in it.
//	API-5 A stream of events continues while gates fail: one watch of a job serves all its streams here, and
//	      Last-Event-ID says at any gate what a reader has.
//	API-6 Host must name this server, cookies count only with the header X-Hyperscale where something changes,
//	      and no answer has CORS headers: pages of other sites get nothing.
//	API-7 Labels of metrics are routes, statuses of HTTP and codes of errors: never a job or a name.
//
// An example:
//
//	s, err := api.Serve(api.Config{Listen: "127.0.0.1:7480", Tokens: file, Client: node, Logger: logger})
//	defer s.Close(ctx)
//
// Read server.go, routes.go, call.go, certificate.go, load.go, figures.go, failure.go, ask.go, jobs.go, submit.go, orders.go, question.go, feed.go, stream.go, events.go, cluster.go, session.go,
// openapi.go.
package api
