// Package ssh transfers files over SSH: SFTP by github.com/pkg/sftp, and SCP by a codec of its own, both on
// golang.org/x/crypto/ssh, which no other package imports.
//
// It is not a shell: it runs no command but scp, and forwards nothing. It reads no socket: its goroutines work
// beside a loop (runtime/protocol/island), which has the connection.
//
// Source: RFC 4251 to 4254, draft-ietf-secsh-filexfer-02; scp.c of OpenSSH, whose protocol has no other text.
//
// Invariants:
//
//	SSH-1 A connection does one operation at a time. Each ends once, by its outcome or by the error that
//	      ends the connection.
//	SSH-2 No operation begins before the server's host key is one of the host's: of known_hosts, unless
//	      "any" stands in its place. A revoked key is refused.
//	SSH-3 What a server sends is bounded: a file that is kept and a listing by the limit, a file that is not
//	      kept by nothing but its length, as none of it is.
//	SSH-4 A path and a name are bytes: nothing is made of .. or a line break in them, and no file of this
//	      machine is read or written. A server of SCP that sends another file than the one asked for breaks
//	      the protocol.
//	SSH-5 An error that the server told is an outcome, and the connection goes on.
//	SSH-6 Release and Drop end all goroutines of the connection.
//
// Example:
//
//	p, err := ssh.New(ssh.Config{Host: "h", Port: 22, User: "app", Key: pem, HostKeys: knownHosts})
//	opening := codec.Opening{Greeting: p.Greet(ssh.SFTP)}
//	err = dialogue.(*ssh.Conn).Operate(ssh.Get(path), ssh.Order{Keeps: true})
//
// Read protocol.go, hosts.go; operation.go; greeting.go, conn.go, work.go, scp.go, fault.go; ping.go.
package ssh
