package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import (
	"fmt"

	"github.com/tinylib/msgp/msgp"

	"hyperscale/core/node"
)

// Hello is the first message on every stream, from both sides. The head of a datagram says the
// same in fewer bytes.
//
//catalogue:message kind=1 class=control priority=critical full=keep from=client,gate,manager,worker since=0
type Hello struct {
	Major       uint16 `msg:"major" require:"true"` // protocol version: rejected unless equal
	Minor       uint16 `msg:"minor"`
	Cluster     string `msg:"cluster" require:"true"`
	Environment string `msg:"environment" require:"true"`
	Node        string `msg:"node" require:"true"`
	Incarnation uint64 `msg:"incarnation" require:"true"`
	Role        uint8  `msg:"role" require:"true"`
	Addr        string `msg:"addr"`
	Datacenter  string `msg:"datacenter"` // of a manager or a worker; the certificate must claim it
}

// HelloRefused rejects a Hello, by the field that differs.
//
//catalogue:message kind=2 class=control priority=critical full=keep from=client,gate,manager,worker since=0
type HelloRefused struct {
	Field  string `msg:"field" require:"true"`
	Got    string `msg:"got"`
	Want   string `msg:"want"`
	Remedy string `msg:"remedy"`
	Reason string `msg:"reason"` // why a certificate was rejected, as metrics name it
}

// Beat checks a stream between two peers for life; BeatAck answers it.
//
//catalogue:message kind=6 class=control priority=high full=latest from=gate,manager since=0
type Beat struct {
	Counter uint64 `msg:"counter"`
}

// BeatAck answers a Beat.
//
//catalogue:message kind=7 class=control priority=high full=latest from=gate,manager since=0
type BeatAck struct {
	Counter uint64 `msg:"counter"`
}

// The version of the protocol. Nodes of a different Major reject each other. A higher Minor adds
// kinds, fields and what core/lease/level lets a group use: `since=` in a directive and a tag
// `since:"1"` say which one added what. Minor 0 is everything before that.
const (
	Major = 1
	Minor = 1
)

// VersionText names a minor version for people.
func VersionText(minor uint16) string { return fmt.Sprintf("%d.%d", Major, minor) }

// Knows reports whether a peer knows the kind of a message.
func Knows(p node.Peer, k node.Kind) bool { return Since(k) <= p.Minor }

// Beyond says, for people, that a peer does not know a message.
func Beyond(p node.Peer, m node.Message) string {
	return fmt.Sprintf("%s of protocol version %s does not know %s, which version %s added: upgrade %s", p.ID, VersionText(p.Minor), NameOf(m), VersionText(Since(m.Kind())), p.ID)
}

// RefuseUnknown answers a request of a kind that this version does not know. It returns nil for
// what is no request.
func RefuseUnknown(self, from node.Peer, unknown *UnknownKindError) *Refused {
	if from.Role != node.RoleClient || self.Role != node.RoleGate || unknown.Request == (RequestID{}) {
		return nil
	}
	return &Refused{Request: unknown.Request, Code: CodeVersion, Detail: fmt.Sprintf(
		"%s of protocol version %s does not know kind %d, which %s of version %s sends: upgrade %s, or use the client that came with it",
		self.ID, VersionText(self.Minor), unknown.Kind, from.ID, VersionText(from.Minor), self.ID)}
}

// requestIn returns the request in the body of an unknown kind: each request has it as a field of
// this name. It is zero if the body has none.
func requestIn(b []byte) (r RequestID) {
	n, b, err := msgp.ReadMapHeaderBytes(b)
	for range n {
		var name []byte
		if err == nil {
			name, b, err = msgp.ReadStringZC(b)
		}
		if err != nil {
			return RequestID{}
		}
		if string(name) == "request" {
			if _, err := r.UnmarshalMsg(b); err != nil {
				return RequestID{}
			}
			return r
		}
		b, err = msgp.Skip(b)
	}
	return RequestID{}
}
