// Package lab compares core/admission with published algorithms, in a simulation of servers
// whose capacity is known. All of it is tests.
//
// It is not the simulated world (sim): no machine, no network, no fault. It asks one question,
// which requests a server should admit, and needs millions of them for an answer.
//
// Sources: folly/executors/Codel.cpp; Gradient2Limit and AIMDLimit of Netflix/concurrency-limits;
// gradient_controller.cc of Envoy; Zhou et al., "Overload Control for Scaling WeChat
// Microservices" (SoCC 2018). docs/overload.md says where a rival departs from its source.
//
// In a chain of servers ours is the door with what chain_test.go adds: servers tell the one that called
// them how long they let a request wait. No node of the cluster is such a chain, so the door has none of it.
//
// Invariants:
//
//	LAB-1 One seed has the same requests for all algorithms: arrivals, deadlines, work.
//	LAB-2 Refusals cost work, at the door and at dequeue alike, for all algorithms.
//	LAB-3 docs/overload.md shows the figures of testdata, and a sample of them is played again in
//	      each test.
//
// Read draw_test.go, calendar_test.go, world_test.go, server_test.go, then the algorithms:
// rivals_test.go, limits_test.go, dagor_test.go, ours_test.go, chain_test.go. Then play_test.go (experiments),
// figures_test.go, bars_test.go, page_test.go, picture_test.go.
package lab
