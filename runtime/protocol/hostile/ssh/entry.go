package ssh

import (
	"io"
	"net"
	"slices"

	gossh "golang.org/x/crypto/ssh"

	"hyperscale/runtime/protocol/http1"
)

// User and Password are those of the client; Path is the file, and Next what it has in it.
const (
	User     = "app"
	Password = "geheim"
	Path     = "/data/next"
	Next     = "next"
)

// Verb is what the client must do to meet the behaviour, as workflows write it.
type Verb string

// The verbs.
const (
	Get     Verb = "sftp.get"
	Put     Verb = "sftp.put"
	List    Verb = "sftp.list"
	Stat    Verb = "sftp.stat"
	CopyGet Verb = "scp.get"
	CopyPut Verb = "scp.put"
)

// Entry is one behaviour and the conclusion that a client must draw.
type Entry struct {
	Name   string
	Verb   Verb
	Server Behaviour
	Want   http1.Kind // KindNone: the operation is good
	Or     http1.Kind // the same, where chance decides; KindNone: there is none
	Late   bool       // it waits until the operation's time is over
	Reuse  bool       // the next operation comes on the same connection
}

// Behaviour is the server's script on its first connection. The zero value behaves well.
type Behaviour struct {
	Accept   func(c *net.TCPConn, wait <-chan struct{}) // in place of SSH
	Config   func(*gossh.ServerConfig)                  // changes what it offers
	OtherKey bool                                       // its host key is another one
	Channel  func(n gossh.NewChannel) bool              // in place of opening the channel, if true
	Refuses  bool                                       // it serves neither subsystem nor command
	Packet   func(w io.Writer, kind byte, id uint32) Answer
	Copy     string // what scp says in place of its header and file
	Status   int    // of scp; below 0: none
	Flood    []byte // said for ever, in place of an answer to any packet

	once bool // it is well-behaved afterwards, on the same connection
}

// spent ends the hostile part, if it happens once.
func (b *Behaviour) spent() {
	if b.once {
		*b = Behaviour{}
	}
}

// Answer is what becomes of a packet.
type Answer uint8

// The answers.
const (
	Usual  Answer = iota // the right one
	Said                 // the behaviour has said what it wants
	Hangup               // the connection ends
)

// All lists the catalogue.
func All() []Entry { return slices.Concat(connections(), packets(), lines()) }
