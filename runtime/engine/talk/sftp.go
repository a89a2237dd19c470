package talk

import (
	"fmt"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
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
