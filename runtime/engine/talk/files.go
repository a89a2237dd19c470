package talk

import (
	"crypto/tls"
	"fmt"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/ftp"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/island/ssh"
)

// transfer is what a step does with a file of an SSH server.
type transfer struct {
	begins    *ssh.Protocol
	use       ssh.Use
	operation *ssh.Operation
}

var _ verb = (*transfer)(nil)

func (t *transfer) open() codec.Opening { return codec.Opening{Greeting: t.begins.Greet(t.use)} }

func (t *transfer) say(x *Exchange, d codec.Dialogue) error {
	if x.opens > 0 {
		x.account.Transfers().Authenticated(x.said - x.opens)
		x.opens = 0
	}
	if x.stock.show != nil {
		x.shows([]byte(t.operation.Show(x.values)))
	}
	return d.(*ssh.Conn).Operate(t.operation, ssh.Order{Values: x.values, Keeps: x.keeps})
}

func (t *transfer) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	o := x.with.(*ssh.Conn).Outcome()
	if x.wrong = o.Err; o.Err == nil && o.Took > 0 {
		x.account.Transfers().Moved(o.Moved, o.Took)
	}
	x.keep(payload)
	return true
}

func (t *transfer) deaf() bool { return false }

func (t *transfer) status() uint16 { return 200 }

func (t *transfer) protocol() string {
	if t.use == ssh.SCP {
		return "SCP"
	}
	return "SFTP"
}

func (t *transfer) left(uint16, string) error { return nil }

// sftp prepares an operation of SFTP or SCP.
func (p *Plan) sftp(r *request.Request, w *workflow.Workflow, memory *Memory) error {
	to := r.SFTP
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	protocol, key, err := memory.ssh(to, w)
	if err != nil {
		return err
	}
	v := &transfer{begins: protocol, operation: &ssh.Operation{Verb: ssh.Verb(to.Verb), Path: sshText(to.Path, r.Placeholders)}}
	if to.Target.Scheme == "scp" {
		v.use, v.operation.Verb = ssh.SCP, ssh.VerbFetch+ssh.Verb(to.Verb)
	}
	switch {
	case to.Verb == request.SFTPRename:
		v.operation.To = sshText(to.To, r.Placeholders)
	case to.Verb == request.SFTPChmod:
		v.operation.Mode = to.Mode
	case to.File != nil:
		if v.operation.Bytes, err = to.File.Data(); err != nil {
			return err
		}
	case to.Verb == request.SFTPPut:
		if v.operation.Data = sshText(to.Data, r.Placeholders); len(v.operation.Data) == 1 && v.operation.Data[0].Value < 0 {
			v.operation.Data, v.operation.Bytes = nil, []byte(to.Data)
		}
	}
	p.verb, p.coded = v, true
	p.Host = pool.TalkHost{Key: fmt.Sprintf("%s %d", key, v.use)}
	p.Shown = http1.Call{Method: r.Method, Scheme: to.Target.Scheme, Host: to.Target.Host, Port: to.Target.Port}
	return nil
}

// sshText cuts a text where placeholders stand in it.
func sshText(text string, all []request.Placeholder) (t ssh.Text) {
	for _, part := range argument(text, all) {
		t = append(t, ssh.Part{Text: part.Text, Value: part.Value})
	}
	return t
}

// ssh returns what begins the connections of a target, and the key that tells it apart.
func (m *Memory) ssh(to *request.SFTP, w *workflow.Workflow) (*ssh.Protocol, string, error) {
	key := fmt.Sprintf("ssh %s:%d %q %q %q %q", to.Target.Host, to.Target.Port, to.User, to.Password, to.Key, to.HostKeys)
	p := m.hosts[key]
	if p != nil {
		return p, key, nil
	}
	if m.hosts == nil || len(m.hosts) >= protocolsMax {
		m.hosts = map[string]*ssh.Protocol{}
	}
	c := ssh.Config{Host: to.Target.Host, Port: to.Target.Port, User: to.User, Password: to.Password, Limit: w.HTTP.MaxBody}
	if to.Key != "" {
		c.Key = []byte(to.Key)
	}
	if to.HostKeys != "" {
		c.HostKeys = []byte(to.HostKeys)
	}
	p, err := ssh.New(c)
	if err != nil {
		return nil, "", err
	}
	m.hosts[key] = p
	return p, key, nil
}

// fileTransfer is what a step does with a file of an FTP server.
type fileTransfer struct {
	begins    *ftp.Protocol
	operation *ftp.Operation
}

var _ verb = (*fileTransfer)(nil)

func (t *fileTransfer) open() codec.Opening { return codec.Opening{Greeting: t.begins.Greet()} }

func (t *fileTransfer) say(x *Exchange, d codec.Dialogue) error {
	if x.stock.show != nil {
		x.shows(t.operation.Show(nil, x.values))
	}
	return d.(*ftp.Conn).Operate(t.operation, ftp.Order{Values: x.values, Keeps: x.keeps})
}

func (t *fileTransfer) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	o := x.with.(*ftp.Conn).Outcome()
	m, now := x.account.Transfers(), x.stock.clock.Now
	if x.wrong, _ = o.Err.(*http1.Error); x.wrong == nil && x.branch.stands > 0 {
		m.Moved(int64(o.Bytes), now-x.branch.stands)
	}
	x.keep(payload)
	return true
}

func (t *fileTransfer) deaf() bool { return false }

func (t *fileTransfer) status() uint16 { return 200 }

func (t *fileTransfer) protocol() string { return "FTP" }

func (t *fileTransfer) left(uint16, string) error { return nil }

// branch is when what happened on an exchange's second connection; 0: it did not.
type branch struct{ dials, stands, moves int64 }

// Branched implements pool.Brancher.
func (x *Exchange) Branched(e pool.BranchEvent) {
	now, m := max(1, x.stock.clock.Now), x.account.Transfers()
	switch {
	case e == pool.BranchDials:
		x.branch = branch{dials: now}
	case e == pool.BranchStands:
		x.branch.stands = now
		m.Connected(now - x.branch.dials)
	case x.branch.moves == 0:
		x.branch.moves = now
		m.First(now - x.branch.stands)
	}
}

// fileServer is what begins the connections of an FTP target.
type fileServer struct {
	protocol *ftp.Protocol
	tls      *tls.Config // nil: the workflow's
	resume   bool        // a user's connections take up its TLS session
}

// ftp prepares an operation of FTP.
func (p *Plan) ftp(r *request.Request, w *workflow.Workflow, memory *Memory) error {
	to := r.FTP
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	key := fmt.Sprintf("ftp %s %q %q %t %s", r.URL, to.User, to.Password, to.Explicit, to.Secure.Key)
	s, err := memory.fileServer(key, to, w)
	if err != nil {
		return err
	}
	o, err := ftpOperation(to, r.Placeholders)
	if err != nil {
		return err
	}
	p.verb, p.coded = &fileTransfer{begins: s.protocol, operation: o}, true
	p.Host = pool.TalkHost{Key: key, Secure: to.Target.Secure, TLS: s.tls, Resume: s.resume, Branches: true}
	p.Shown = http1.Call{Method: r.Method, Scheme: to.Target.Scheme, Host: to.Target.Host, Port: to.Target.Port}
	return nil
}

// ftpOperation compiles an operation.
func ftpOperation(to *request.FTP, all []request.Placeholder) (*ftp.Operation, error) {
	path := replyArgument(to.Path, all)
	switch to.Verb {
	case request.FTPGet:
		return ftp.Get(path), nil
	case request.FTPList:
		return ftp.List(path, to.Names), nil
	case request.FTPDelete:
		return ftp.Delete(path), nil
	case request.FTPRename:
		return ftp.Rename(path, replyArgument(to.To, all)), nil
	case request.FTPMkdir:
		return ftp.Mkdir(path), nil
	}
	if to.File == nil {
		return ftp.Put(path, replyArgument(to.Data, all)), nil
	}
	data, err := to.File.Data()
	return ftp.PutBytes(path, data), err
}

// fileServer returns what begins the connections of a target.
func (m *Memory) fileServer(key string, to *request.FTP, w *workflow.Workflow) (*fileServer, error) {
	if s := m.files[key]; s != nil {
		return s, nil
	}
	if m.files == nil || len(m.files) >= protocolsMax {
		m.files = map[string]*fileServer{}
	}
	s := new(fileServer)
	var err error
	if s.protocol, err = ftp.New(ftp.Config{User: to.User, Password: to.Password, Secure: to.Target.Secure, Explicit: to.Explicit, KeepMax: w.HTTP.MaxBody}); err != nil {
		return nil, err
	}
	if s.tls, s.resume, err = securing(&to.Secure, &w.HTTP.TLS); err != nil {
		return nil, err
	}
	m.files[key] = s
	return s, nil
}
