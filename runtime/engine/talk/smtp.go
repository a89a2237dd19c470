package talk

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/reply"
	"hyperscale/runtime/protocol/smtp"
)

// mailing is smtp.send.
type mailing struct {
	begins    *smtp.Protocol
	operation *smtp.Operation
	stamps    *stamps
}

var _ verb = (*mailing)(nil)

func (l *mailing) open() codec.Opening { return codec.Opening{Greeting: l.begins.Greet()} }

func (l *mailing) say(x *Exchange, d codec.Dialogue) error {
	if x.stock.show != nil {
		x.shows(l.operation.Show(nil, x.values))
	}
	date, id := l.stamps.next(x.stock.clock.Base.Add(time.Duration(x.said)))
	return d.(*smtp.Conn).Operate(l.operation, smtp.Order{Values: x.values, Keeps: x.keeps, Date: date, ID: id})
}

func (l *mailing) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	o := x.with.(*smtp.Conn).Outcome()
	x.account.Mails().Recipients(o.Accepted, o.Refused)
	x.wrong, _ = o.Err.(*http1.Error)
	x.keep(payload)
	return true
}

func (l *mailing) deaf() bool { return false }

func (l *mailing) status() uint16 { return 200 }

func (l *mailing) protocol() string { return "SMTP" }

func (l *mailing) left(uint16, string) error { return nil }

// mails are what the messages of one loop share.
type mails struct {
	pool    smtp.Pool
	servers map[string]*mailServer // by key of a target
	coded   map[*request.File]*smtp.Coded
	stamps  *stamps
}

// stamps makes the date and the name of each message.
type stamps struct {
	prefix string // that no other loop has
	made   uint64
	second int64 // of date
	date   []byte
	id     []byte
}

// next returns what the next message is stamped with, valid until the next call.
func (s *stamps) next(now time.Time) (date, id []byte) {
	if at := now.Unix(); s.date == nil || at != s.second {
		s.second, s.date = at, now.UTC().AppendFormat(s.date[:0], "Mon, 02 Jan 2006 15:04:05 +0000")
	}
	s.made++
	s.id = strconv.AppendUint(append(append(s.id[:0], s.prefix...), '.'), s.made, 10)
	return s.date, s.id
}

// mailServer is what begins the connections of a target.
type mailServer struct {
	protocol *smtp.Protocol
	tls      *tls.Config // nil: the workflow's
	resume   bool        // a user's connections take up its TLS session
}

// smtp prepares an operation.
func (p *Plan) smtp(r *request.Request, w *workflow.Workflow, memory *Memory) error {
	to := r.SMTP
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	key := fmt.Sprintf("smtp %s %q %s %q %q %t %d %s", r.URL, to.Hello, to.Mechanism, to.User, to.Password, to.StartTLS, to.Each, to.Secure.Key)
	s, err := memory.mails.server(key, to, &w.HTTP.TLS)
	if err != nil {
		return err
	}
	text := func(s string) reply.Argument { return replyArgument(s, r.Placeholders) }
	m := smtp.Message{From: text(to.Sender), Body: text(to.Body)}
	for _, one := range to.To {
		m.To = append(m.To, text(one))
	}
	if to.Subject != nil {
		if m.Subject = text(*to.Subject); m.Subject == nil {
			m.Subject = reply.Argument{}
		}
	}
	for _, h := range to.Headers {
		m.Headers = append(m.Headers, smtp.Header{Name: h.Name, Value: text(h.Value)})
	}
	if m.Attachments, err = memory.mails.attachments(to.Attachments, text); err != nil {
		return err
	}
	o, err := smtp.Compile(m)
	if err != nil {
		return err
	}
	p.verb, p.coded = &mailing{begins: s.protocol, operation: o, stamps: memory.mails.stamps}, true
	p.Host = pool.TalkHost{Key: key, Secure: to.Target.Secure, TLS: s.tls, Resume: s.resume}
	p.Shown = http1.Call{Method: r.Method, Scheme: to.Target.Scheme, Host: to.Target.Host, Port: to.Target.Port}
	return nil
}

// Encode encodes the files that its messages carry now, not when the first one sends them.
func (p *Plan) Encode() {
	if l, is := p.verb.(*mailing); is {
		l.operation.Encode()
	}
}

// attachments prepares what a message carries beside its body. All messages share what a file is as base64.
func (m *mails) attachments(all []request.Attachment, text func(string) reply.Argument) (out []smtp.Attachment, err error) {
	for i := range all {
		a := smtp.Attachment{Name: all[i].Name}
		switch f := all[i].File; {
		case f != nil:
			if a.Data = m.coded[f]; a.Data != nil {
				break
			}
			data, err := f.Data()
			if err != nil {
				return nil, err
			}
			if m.coded == nil {
				m.coded = map[*request.File]*smtp.Coded{}
			}
			a.Data = smtp.Encode(data)
			m.coded[f] = a.Data // a program has so many files, and no more
		case all[i].Data != nil:
			a.Data = smtp.Encode(all[i].Data)
		default:
			a.Text = text(all[i].Text)
		}
		out = append(out, a)
	}
	return out, nil
}

// server returns what begins the connections of a target. Common are the TLS options of those that have none
// of their own.
func (m *mails) server(key string, to *request.SMTP, common *request.TLS) (*mailServer, error) {
	if s := m.servers[key]; s != nil {
		return s, nil
	}
	if m.servers == nil || len(m.servers) >= protocolsMax {
		m.servers = map[string]*mailServer{}
	}
	if m.stamps == nil {
		var random [8]byte
		_, _ = rand.Read(random[:]) // it never fails
		m.stamps = &stamps{prefix: hex.EncodeToString(random[:])}
	}
	c := smtp.Config{Hello: to.Hello, Secure: to.Target.Secure, StartTLS: to.StartTLS, User: to.User, Secret: to.Password, Each: to.Each, Pool: &m.pool}
	if to.Mechanism != "" {
		for c.Mechanism = smtp.MechanismPlain; c.Mechanism.String() != to.Mechanism && c.Mechanism < smtp.MechanismToken; {
			c.Mechanism++
		}
	}
	s := new(mailServer)
	var err error
	if s.protocol, err = smtp.New(c); err != nil {
		return nil, err
	}
	if s.tls, s.resume, err = securing(&to.Secure, common); err != nil {
		return nil, err
	}
	m.servers[key] = s
	return s, nil
}

// replyArgument cuts a text where placeholders stand in it; nil: it is empty.
func replyArgument(text string, all []request.Placeholder) (a reply.Argument) {
	for _, part := range sqlArgument(text, all) {
		if part.Text != "" || part.Value >= 0 && len(part.Text) == 0 {
			value := part.Value
			if part.Text != "" {
				value = -1
			}
			a = append(a, reply.Part{Text: part.Text, Value: value})
		}
	}
	return a
}
