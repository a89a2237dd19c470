package main

import (
	"bufio"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// filing gives a file over FTP or SFTP. It stands for servers that start processes for each connection, of which this
// machine holds no 10,000.
type filing struct {
	listener net.Listener
	counter  *counter
	data     atomic.Uint32 // data connections of FTP that were wanted
	talk     func(net.Conn)
}

func newFiling(c serverConfig, n *counter) (*filing, error) {
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, err
	}
	f := &filing{listener: listener, counter: n}
	if f.talk = f.ftp; c.Kind == "ftp" {
		return f, nil
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.NewSignerFromSigner(key)
	if err != nil {
		return nil, err
	}
	config := &ssh.ServerConfig{PasswordCallback: func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) { return nil, nil }}
	config.AddHostKey(signer)
	f.talk = func(c net.Conn) { f.ssh(c, config) }
	return f, nil
}

func (f *filing) serve() error {
	for {
		c, err := f.listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			f.talk(c)
			_ = c.Close() // the client has gone
		}()
	}
}

// ftp speaks as much FTP as a download needs.
func (f *filing) ftp(c net.Conn) {
	in := bufio.NewReaderSize(c, 128)
	say := func(text string) { _, _ = io.WriteString(c, text+"\r\n") } // a read finds out
	say("220 files")
	var data net.Listener
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "USER":
			say("331 password")
		case "PASS":
			say("230 in")
		case "EPSV":
			if data, err = f.passive(); err != nil {
				say("425 no port")
				continue
			}
			say(fmt.Sprintf("229 extended (|||%d|)", data.Addr().(*net.TCPAddr).Port))
		case "RETR":
			say("150 here it is")
			if f.gives(data) != nil {
				say("426 cut")
				continue
			}
			f.counter.requests.Add(1)
			say("226 done")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("200 fine")
		}
	}
}

// passive listens for a data connection, on the next port below those that a kernel gives to clients. Where 10,000
// clients on one machine hold those, it searches through all of them for each that is wanted.
func (f *filing) passive() (net.Listener, error) {
	const first, ports, tries = 10_000, 22_000, 100
	for i := 1; ; i++ {
		at := fmt.Sprintf("127.0.0.1:%d", first+f.data.Add(1)%ports)
		if l, err := net.Listen("tcp", at); err == nil || i == tries {
			return l, err
		}
	}
}

// gives sends the file to the client that connects.
func (f *filing) gives(at net.Listener) error {
	c, err := at.Accept()
	_ = at.Close() // for one client
	if err != nil {
		return err
	}
	if _, err = io.WriteString(c, strings.Repeat("x", ftpSize)); err != nil {
		return err
	}
	return c.Close()
}

// ssh serves SFTP.
func (f *filing) ssh(c net.Conn, config *ssh.ServerConfig) {
	conn, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	go ssh.DiscardRequests(requests)
	for asked := range channels {
		channel, requests, err := asked.Accept()
		if err != nil {
			return
		}
		go f.channel(channel, requests)
	}
}

// channel serves SFTP, or one copy of SCP.
func (f *filing) channel(c ssh.Channel, requests <-chan *ssh.Request) {
	for r := range requests {
		_ = r.Reply(r.Type == "subsystem" || r.Type == "exec", nil) // a client that has gone
		if r.Type == "exec" {
			f.scp(c)
			return
		}
		if r.Type == "subsystem" {
			break
		}
	}
	go ssh.DiscardRequests(requests)
	_ = sftp.NewRequestServer(c, sftp.Handlers{FileGet: f, FileCmd: nil, FilePut: nil, FileList: f}).Serve() // until the client ends it
}

// scp sends the file to a client that fetches it.
func (f *filing) scp(c ssh.Channel) {
	defer func() { _ = c.Close() }() // the client has gone
	var taken [1]byte
	for _, said := range []string{fmt.Sprintf("C0644 %d file\n", sftpSize), strings.Repeat("x", sftpSize) + "\x00", ""} {
		if _, err := io.ReadFull(c, taken[:]); err != nil {
			return
		}
		if _, err := io.WriteString(c, said); err != nil {
			return
		}
	}
	f.counter.requests.Add(1)
	_, _ = c.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{})) // the same
}

// Fileread implements sftp.FileReader.
func (f *filing) Fileread(*sftp.Request) (io.ReaderAt, error) {
	f.counter.requests.Add(1)
	return strings.NewReader(strings.Repeat("x", sftpSize)), nil
}

// Filelist implements sftp.FileLister.
func (f *filing) Filelist(*sftp.Request) (sftp.ListerAt, error) { return listed{}, nil }

// listed is the one file of the server.
type listed struct{}

// ListAt implements sftp.ListerAt.
func (listed) ListAt(into []fs.FileInfo, from int64) (int, error) {
	if from > 0 || len(into) == 0 {
		return 0, io.EOF
	}
	into[0] = file{}
	return 1, io.EOF
}

// file is its description.
type file struct{}

func (file) Name() string       { return "file" }
func (file) Size() int64        { return sftpSize }
func (file) Mode() fs.FileMode  { return 0o644 }
func (file) ModTime() time.Time { return time.Time{} }
func (file) IsDir() bool        { return false }
func (file) Sys() any           { return nil }
