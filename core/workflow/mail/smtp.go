package mail

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

const (
	recipientsMost = 1000
	addressMost    = 254       // bytes of an address: RFC 5321, 4.5.3.1.3
	lineMost       = 998       // bytes of a line of a message: RFC 5322, 2.1.1
	letterMost     = 128 << 20 // bytes of a body, and of all that is attached
)

// SendArguments are those of smtp.send.
func SendArguments() []string {
	return []string{"target", "sender", "to", "subject", "body", "headers", "attachments", "timeout", "retry"}
}

// SMTP is smtp and vu.smtp.
func SMTP(under string, own []string, use request.Use) *language.Namespace {
	fn := under + ".send"
	members := starlark.StringDict{
		"send": &guard.Func{Word: "send", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			a, err := bind(fn, append(SendArguments(), own...), 1, args, kwargs)
			if err != nil {
				return nil, err
			}
			l := letter{arguments: a}
			if l.to, err = smtpTarget(fn, a.of("target")); err != nil {
				return nil, err
			}
			l.draft = request.NewDraft(thread, fn)
			if err := l.read(); err != nil {
				return nil, l.draft.Explain(err)
			}
			r := &request.Request{Method: "SEND", URL: l.to.Target.URL(), Exchange: request.Exchange{SMTP: &l.to}}
			return l.draft.End(r, a.in[slices.Index(a.names, "timeout"):], use)
		}},
	}
	if under == "smtp" {
		members["client"] = &guard.Func{Word: "client", Call: newSMTPClient}
		//lint:orderfree a namespace has no order
		for word, mechanism := range mechanisms() {
			members[word] = prover(word, mechanism)
		}
	}
	return language.NewNamespace(under, members)
}

// letter reads a message.
type letter struct {
	arguments
	draft *request.Draft
	to    request.SMTP
}

func (l *letter) read() (err error) {
	if l.of("sender") == nil {
		return language.Faultf("%s: the sender is missing", l.fn).Do("write sender = \"a@example.org\", or \"\" for the null sender")
	}
	if l.to.Sender, err = l.draft.Text("sender", l.of("sender")); err != nil {
		return err
	}
	if l.to.Sender != "" {
		if err := l.address("sender", l.to.Sender); err != nil {
			return err
		}
	}
	if err := l.recipients(); err != nil {
		return err
	}
	if v := l.of("subject"); v != nil {
		text, err := l.draft.Text("subject", v)
		switch {
		case err != nil:
			return err
		case strings.ContainsAny(text, "\r\n\x00") || len(text) > lineMost-len("Subject: "):
			return language.Faultf("%s: subject has a line break in it, or more than %d bytes", l.fn, lineMost-len("Subject: ")).In("subject").Do("write one line")
		}
		l.to.Subject = &text
	}
	if l.to.Headers, err = l.draft.Fields("headers", l.of("headers")); err != nil {
		return err
	}
	for _, h := range l.to.Headers {
		if strings.EqualFold(h.Name, "Subject") && l.to.Subject != nil {
			return language.Faultf("%s has subject, and headers has Subject in it", l.fn).In("headers").Do("keep one of them")
		}
	}
	if err := l.body(); err != nil {
		return err
	}
	return l.attachments()
}

// address checks one: values may change it when it is sent.
func (l *letter) address(argument, text string) error {
	cut := l.draft.Cut(text)
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '<' || r == '>' }
	at := strings.LastIndexByte(cut, '@')
	if len(cut) > addressMost || strings.ContainsFunc(cut, odd) || at == 0 || at == len(cut)-1 || at < 0 && cut != "postmaster" && cut == text {
		return language.Faultf("%s: %s has %q in it, which is no address", l.fn, argument, language.Clip(cut, 60)).In(argument).Do("write \"name@example.org\", in ASCII, without a display name: that stands in headers = {\"From\": ...}")
	}
	return nil
}

func (l *letter) recipients() error {
	v := l.of("to")
	if v == nil {
		return language.Faultf("%s: the recipients are missing", l.fn).Do("write to = [\"b@example.org\"]")
	}
	all := []starlark.Value{v}
	if _, alone := v.(starlark.String); !alone {
		if _, alone := v.(*secret.Text); !alone {
			var err error
			if all, err = language.List(l.fn, "to", "addresses", v); err != nil {
				return err
			}
		}
	}
	if len(all) == 0 || len(all) > recipientsMost {
		return language.Faultf("%s: to has %d recipients", l.fn, len(all)).In("to").Do("name 1 to %d", recipientsMost)
	}
	for _, one := range all {
		text, err := l.draft.Text("to", one)
		if err != nil {
			return err
		}
		if err := l.address("to", text); err != nil {
			return err
		}
		l.to.To = append(l.to.To, text)
	}
	return nil
}

// body reads what a message says.
func (l *letter) body() (err error) {
	v := l.of("body")
	switch v.(type) {
	case nil:
		return nil
	case starlark.String, *secret.Text:
	default:
		return language.WrongType(l.fn, "body", "a text", v).Do("bytes go as base64: headers = {\"Content-Transfer-Encoding\": \"base64\"}, body = base64.encode(...)")
	}
	if l.to.Body, err = l.draft.Text("body", v); err != nil {
		return err
	}
	if len(l.to.Body) > letterMost {
		return language.Faultf("%s: body has %d bytes, more than 128 MiB", l.fn, len(l.to.Body)).In("body").Do("send less")
	}
	for line := range strings.Lines(l.to.Body) {
		if n := len(strings.TrimRight(line, "\r\n")); n > lineMost {
			return language.Faultf("%s: body has a line of %d bytes, and mail has %d at most", l.fn, n, lineMost).In("body").Do("break it by \\n")
		}
	}
	return nil
}
