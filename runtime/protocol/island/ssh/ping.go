package ssh

import (
	"errors"
	"io"
	"net"
	"time"

	"github.com/pkg/sftp"
	gossh "golang.org/x/crypto/ssh"

	"hyperscale/runtime/protocol/http1"
)

// Seen is what a ping sees of a server.
type Seen struct {
	Version string        // as the server tells it
	Greeted time.Duration // until the user is authenticated
	Answer  time.Duration // to REALPATH, or to a command that does nothing
}

// Ping greets a server on a connection of Go's own, and asks for one answer: of SFTP the path of the folder where
// its user begins, of SCP that the command true ends. The connection's deadline bounds all of it.
func (p *Protocol) Ping(c net.Conn, use Use) (s Seen, err error) {
	began := time.Now()
	conn, channels, requests, err := gossh.NewClientConn(c, p.at, &p.config)
	if err != nil {
		return s, p.explains(c, err)
	}
	client := gossh.NewClient(conn, channels, requests)
	defer func() { _ = client.Close() }()
	s.Version = said(string(conn.ServerVersion()))
	s.Greeted = time.Since(began)
	began = time.Now()
	if use == SCP {
		err = runsTrue(client)
	} else {
		err = asksPath(client)
	}
	if s.Answer = time.Since(began); err != nil {
		if told := statusOf(err); told != nil {
			return s, told
		}
		return s, p.explains(c, err)
	}
	return s, nil
}

// explains is what an error means on a connection of Go's own: its deadline is no breach.
func (p *Protocol) explains(_ net.Conn, err error) error {
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		return late
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection"}
	}
	return meaning(err)
}

func runsTrue(client *gossh.Client) error {
	c, err := start(client, "true")
	if err != nil {
		return err
	}
	return c.ends(nil)
}

func asksPath(client *gossh.Client) error {
	files, err := sftp.NewClient(client)
	if err != nil {
		return err
	}
	defer func() { _ = files.Close() }()
	_, err = files.RealPath(".")
	return err
}
