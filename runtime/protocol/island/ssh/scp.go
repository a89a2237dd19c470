package ssh

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

const (
	lineMost   = 4096 + 64 // bytes of a line of SCP: a name and what stands before it
	stderrMost = 256       // bytes of what a command says that are kept
)

// command is scp on the other side.
type command struct {
	gossh.Channel
	in     *bufio.Reader
	status chan int // one number; below 0: it ended without one
}

// start runs a command.
func start(client *gossh.Client, line string) (*command, error) {
	channel, requests, err := client.OpenChannel("session", nil)
	if err != nil {
		return nil, err
	}
	c := &command{Channel: channel, in: bufio.NewReaderSize(channel, lineMost), status: make(chan int, 1)}
	go c.listen(requests)
	taken, err := channel.SendRequest("exec", true, gossh.Marshal(struct{ Line string }{line}))
	if err == nil && !taken {
		err = errExec
	}
	if err != nil {
		_ = channel.Close()
		if errors.Is(err, errExec) {
			<-c.status // the connection goes on, and keeps the channel until the server ends it
		}
		return nil, err
	}
	return c, nil
}

// listen takes the requests of the channel, until it is closed.
func (c *command) listen(requests <-chan *gossh.Request) {
	status := -1
	for r := range requests {
		if r.Type == "exit-status" && len(r.Payload) == 4 {
			status = int(r.Payload[0])<<24 | int(r.Payload[1])<<16 | int(r.Payload[2])<<8 | int(r.Payload[3])
		}
		if r.WantReply {
			_ = r.Reply(false, nil)
		}
	}
	c.status <- status
}

// quoted is a path as a shell takes it for one word.
func quoted(p string) string { return "'" + strings.ReplaceAll(p, "'", `'\''`) + "'" }

// copies does a task of SCP.
func (l *link) copies(client *gossh.Client, t task, out *Outcome) error {
	way, does := "-f", l.fetch
	if t.verb == VerbSend {
		way, does = "-t", l.send
	}
	c, err := start(client, "scp "+way+" -- "+quoted(t.path))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err = does(c, t, out); err != nil && !errors.Is(err, io.EOF) {
		if l.told(err) != nil {
			_ = c.Close()
			<-c.status // as above
		}
		return err
	}
	return c.ends(err)
}

// ends waits for the command's end. Early is the error of an end before the transfer was over.
func (c *command) ends(early error) error {
	_ = c.CloseWrite() // the other side may have gone
	_, _ = io.Copy(io.Discard, io.LimitReader(c.in, lineMost))
	said, _ := io.ReadAll(io.LimitReader(c.Stderr(), stderrMost))
	_ = c.Close()
	status := <-c.status
	switch {
	case status > 0:
		return exited(status, said)
	case early != nil:
		return breach("scp ended before the file was over")
	case status < 0:
		return errNoStatus
	}
	return nil
}

// acks reads the answer to what was sent.
func (c *command) acks() error {
	b, err := c.in.ReadByte()
	if err != nil || b == 0 {
		return err
	}
	if b != 1 && b != 2 {
		return breach("SCP answers with byte %d, and not with 0, 1 or 2", b)
	}
	return c.says()
}

// says reads an error that the other side tells.
func (c *command) says() error {
	text, err := c.line()
	if err != nil {
		return err
	}
	return refused(text)
}

func (c *command) line() (string, error) {
	b, err := c.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", breach("a line of SCP has more than %d bytes", lineMost)
	}
	return strings.TrimSuffix(string(b), "\n"), err
}

// say writes to the other side.
func (c *command) say(text string) error {
	_, err := io.WriteString(c, text)
	return err
}

// send is scp.put.
func (l *link) send(c *command, t task, out *Outcome) error {
	if err := c.acks(); err != nil {
		return err
	}
	if err := c.say(fmt.Sprintf("C0644 %d %s\n", len(t.data), path.Base(t.path))); err != nil {
		return err
	}
	if err := c.acks(); err != nil {
		return err
	}
	began := time.Now()
	n, err := io.Copy(struct{ io.Writer }{c}, &source{Reader: *bytes.NewReader(t.data), link: l})
	if err == nil {
		err = c.say("\x00")
	}
	if err == nil {
		err = c.acks()
	}
	out.Moved, out.Took = n, int64(time.Since(began))
	return err
}

// fetch is scp.get.
func (l *link) fetch(c *command, t task, out *Outcome) error {
	_ = c.say("\x00") // an end of the other side says why
	size, err := c.header(path.Base(t.path))
	if err != nil {
		return err
	}
	began := time.Now()
	if err := c.say("\x00"); err != nil {
		return err
	}
	s := sink{keeps: t.keeps, limit: l.protocol.limit}
	n, err := io.CopyN(&s, c.in, size)
	out.Moved, out.Took, out.Size, out.Body = n, int64(time.Since(began)), n, s.kept
	if err != nil {
		return err
	}
	if err := c.acks(); err != nil {
		return err
	}
	return c.say("\x00")
}

// header reads what the other side says of the file that comes: it must be the one asked for.
func (c *command) header(name string) (size int64, err error) {
	b, err := c.in.ReadByte()
	if err != nil {
		return 0, err
	}
	switch b {
	case 1, 2:
		return 0, c.says()
	case 'D':
		return 0, refused("it is a directory")
	case 'C':
	default:
		return 0, breach("SCP sends byte %d in front of a file", b)
	}
	line, err := c.line()
	if err != nil {
		return 0, err
	}
	words := strings.SplitN(line, " ", 3)
	if len(words) != 3 || len(words[0]) != 4 {
		return 0, breach("what SCP says of the file is no mode, size and name")
	}
	if size, err = strconv.ParseInt(words[1], 10, 64); err != nil || size < 0 {
		return 0, breach("SCP says that the file has %q bytes", clip(words[1]))
	}
	if words[2] != name {
		return 0, breach("SCP sends %q, and %q was asked for", clip(words[2]), clip(name))
	}
	return size, nil
}
