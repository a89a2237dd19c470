// Package membership measures our SWIM beside hashicorp/memberlist: the same
// experiment, the same seeds, the same network, each in virtual time.
//
// It is a module of its own, so that its dependency is nobody else's. The peer
// runs as it is, on a transport of ours, under testing/synctest; ours runs in
// the simulator. Where the two worlds cannot be equal the comparison favours the
// peer: a paused member of the peer only stops sending and receiving, as in the
// paper on Lifeguard, while a paused node of ours stands still altogether.
//
// Run it with `make bench-membership`.
package membership
