// Package membership measures our SWIM beside hashicorp/memberlist: the same
// experiment, the same seeds, the same network, each in virtual time.
//
// It is a module of its own, so that the product does not depend on memberlist. The peer runs
// as it is, on our transport, under testing/synctest. Ours runs in the simulator. Where the
// two worlds cannot be equal the comparison favours the peer. A paused member of the peer only
// stops sending and receiving, as in the paper on Lifeguard. Our paused node stands still altogether.
//
// Run it with `make bench-membership`.
package membership
