package ssh

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/pkg/sftp"
	gossh "golang.org/x/crypto/ssh"

	"hyperscale/runtime/protocol/http1"
)

// requestsMost is how many requests of one file are under way at once, each of 32 KiB.
const requestsMost = 16

// run is the goroutine of one connection: it greets, and does one task after another.
func (l *link) run() {
	client, err := l.greet()
	if client != nil {
		defer func() {
			_ = client.Close()
			_ = client.Wait() // all goroutines of the library end with its connection
		}()
	}
	if err != nil {
		l.fail(l.explain(err))
		<-l.stop
		return
	}
	var files *sftp.Client
	if l.use == SFTP {
		if files, err = sftp.NewClient(client, sftp.MaxConcurrentRequestsPerFile(requestsMost), sftp.UseConcurrentWrites(true)); err != nil {
			l.fail(l.explain(fmt.Errorf("open the subsystem sftp: %w", err)))
			<-l.stop
			return
		}
		defer func() { _ = files.Close() }()
	}
	l.mu.Lock()
	l.open = true
	l.mu.Unlock()
	l.shore.Tell()
	for {
		select {
		case <-l.stop:
			return
		case t := <-l.tasks:
			l.work(client, files, t)
		}
	}
}

// greet exchanges keys and authenticates.
func (l *link) greet() (*gossh.Client, error) {
	crew := l.shore.Crew()
	if !crew.Enter(l.protocol.at, l.stop) {
		return nil, errOver
	}
	defer crew.Leave(l.protocol.at)
	conn, channels, requests, err := gossh.NewClientConn(l.stream, l.protocol.at, &l.protocol.config)
	if err != nil {
		return nil, err
	}
	return gossh.NewClient(conn, channels, requests), nil
}

// work does one task and reports its outcome, or the error that ends the connection.
func (l *link) work(client *gossh.Client, files *sftp.Client, t task) {
	var out Outcome
	var err error
	if t.verb >= VerbFetch {
		err = l.copies(client, t, &out)
	} else {
		err = l.transfers(files, t, &out)
	}
	told := l.told(err)
	if err != nil && told == nil {
		l.fail(l.explain(err))
		return
	}
	out.Err = told
	if told != nil {
		out.Body, out.Size = nil, 0
	}
	l.mu.Lock()
	l.result = &out
	l.mu.Unlock()
	l.shore.Tell()
}

// transfers does a task of SFTP.
func (l *link) transfers(files *sftp.Client, t task, out *Outcome) (err error) {
	switch t.verb {
	case VerbGet:
		return l.get(files, t, out)
	case VerbPut:
		return l.put(files, t, out)
	case VerbList:
		all, err := files.ReadDir(t.path)
		if err != nil {
			return err
		}
		out.Body = listed(all)
	case VerbStat:
		f, err := files.Stat(t.path)
		if err != nil {
			return err
		}
		out.Body, _ = json.Marshal(entryOf(f)) // texts and numbers have a form
	case VerbRemove:
		return files.Remove(t.path)
	case VerbRename:
		return files.Rename(t.path, t.to)
	case VerbMkdir:
		return files.Mkdir(t.path)
	case VerbRmdir:
		return files.RemoveDirectory(t.path)
	case VerbChmod:
		return files.Chmod(t.path, os.FileMode(t.mode)) // it sends these bits, also above 777
	}
	out.Size = int64(len(out.Body))
	return nil
}

func (l *link) get(files *sftp.Client, t task, out *Outcome) error {
	f, err := files.Open(t.path)
	if err != nil {
		return err
	}
	s := sink{keeps: t.keeps, limit: l.protocol.limit}
	began := time.Now()
	_, err = f.WriteTo(&s)
	out.Moved, out.Took, out.Size, out.Body = s.size, int64(time.Since(began)), s.size, s.kept
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func (l *link) put(files *sftp.Client, t task, out *Outcome) error {
	f, err := files.OpenFile(t.path, createFlags)
	if err != nil {
		return err
	}
	began := time.Now()
	out.Moved, err = f.ReadFrom(&source{Reader: *bytes.NewReader(t.data), link: l})
	out.Took = int64(time.Since(began))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// sink takes a file that comes.
type sink struct {
	keeps bool
	limit int64
	size  int64
	kept  []byte
}

// Write implements io.Writer.
func (s *sink) Write(b []byte) (int, error) {
	if s.size += int64(len(b)); s.keeps {
		if s.size > s.limit {
			return 0, errLarge(s.limit)
		}
		s.kept = append(s.kept, b...)
	}
	return len(b), nil
}

// source is a file that goes. It notes when all of it is read.
type source struct {
	bytes.Reader
	link *link
}

// Read implements io.Reader.
func (s *source) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if s.Len() == 0 {
		s.link.read.Store(true)
	}
	return n, err
}

// WriteTo implements io.WriterTo: its Reader's own would note nothing.
func (s *source) WriteTo(w io.Writer) (int64, error) {
	n, err := s.Reader.WriteTo(w)
	s.link.read.Store(true)
	return n, err
}

// told returns the error that the server told of a task; nil: there is none, or the connection cannot go on.
func (l *link) told(err error) *http1.Error {
	if err == nil {
		return nil
	}
	var own *http1.Error
	if errors.As(err, &own) && toldKind(own.Kind) {
		return own
	}
	var refusal *gossh.OpenChannelError
	if errors.As(err, &refusal) {
		return refusedChannel(refusal)
	}
	return statusOf(err)
}
