package ftp

import "hyperscale/runtime/protocol/http1"

// Place is where a server is hostile: the command that it answers.
type Place string

// The places. Banner is before any command, Data on the data connection, and End behind it.
const (
	Banner   Place = "banner"
	Auth     Place = "AUTH"
	User     Place = "USER"
	Pass     Place = "PASS"
	Protect  Place = "PROT"
	Type     Place = "TYPE"
	Extended Place = "EPSV"
	Passive  Place = "PASV"
	Transfer Place = "RETR" // and STOR
	Data     Place = "data"
	End      Place = "end"
)

// Act is what a server does in place of its answer. It says whether the control connection continues; if not, the
// server closes it.
type Act func(s *Session) (stay bool)

// Entry is one behaviour and the conclusion that a client must draw.
type Entry struct {
	Name string
	At   map[Place]Act // on the first connection
	TLS  bool          // AUTH TLS, and PROT P
	Put  int           // bytes that are uploaded; 0: a file is downloaded
	Gone bool          // there is no server
	Want Want
}

// Want is the client's required conclusion.
type Want struct {
	Kind http1.Kind // KindNone: the file is whole
	Same bool       // the next operation comes on the same connection
}

// Waits says whether the client must give up by its own clock.
func (w Want) Waits() bool {
	return w.Kind == http1.KindTimeout || w.Kind == http1.KindWriteTimeout || w.Kind == http1.KindConnectTimeout
}

// Next is what every whole file has in it.
const Next = "next"
