// Peers runs `hyperscale run` beside today's load generators, on this machine, in turn. It
// prints requests per CPU second, memory, and what each generator says about a server that
// stood still.
//
// It is a module of its own, so that the product does not depend on its peers. It installs nothing
// on the machine. It builds k6, ghz, vegeta, bombardier and hey from the Go module proxy into a
// folder below out/, and unpacks h2load from Debian's packages there. It uses wrk, nginx and
// oha if the machine has them. It skips what is missing, and prints the line that would
// install it.
//
// Invariants:
//
//	B1 The client has a processor of its own, the server another one. A wrapper process
//	   adopts what its command leaves behind (children, orphans) and waits for all of it.
//	   So nothing of a client runs elsewhere or goes uncounted.
//	B2 Our servers count the requests, not the measured client. Peers also reads what the
//	   client claims, and reports a difference.
//	B3 Runs are interleaved: one round runs each client once, and the next round
//	   begins with another one. It prints the best of all rounds, and their spread.
//	B4 Where two clients cannot be treated alike the peer is favoured. vegeta writes to a
//	   file, and the measure leaves out its report. k6 discards bodies.
//	B5 No figure is an assertion but under -strict.
//
// Run it with `make bench-peers`; ONLY=plaintext,truth selects experiments, QUICK=1
// tries everything in runs of 2 s, ALONE=1 leaves the peers out.
//
// Read main.go, then cost.go, websocket.go, grpc.go, tcp.go, udp.go, events.go, redis.go, mqtt.go, nats.go, kafka.go, mongodb.go, amqp.go, http3.go, smtp.go, ftp.go, sftp.go, postgres.go, mysql.go, scaling.go, memory.go, truth.go, kills.go, lateness.go and accounting.go (experiments),
// ours.go, clients.go, parse.go and build.go (clients), server.go, http1.go and http2.go
// (servers), measure.go and tree.go (what a command costs), oracle.go (what is
// true), table.go, progress.go.
package main
