package mail

import (
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

const (
	attachmentsMost = 100
	nameMost        = 200 // bytes of the name of an attachment
)

const attachRemedy = "write attachments = {\"invoice.pdf\": file(\"invoice.pdf\")}, or attachments = file.glob(\"mails/*.pdf\")"

// attachments reads what a message carries beside its body: contents by their names, or files with names of their
// own.
func (l *letter) attachments() error {
	switch v := l.of("attachments").(type) {
	case nil:
		return nil
	case *starlark.Dict:
		for _, item := range v.Items() {
			name, ok := starlark.AsString(item[0])
			if !ok {
				return language.WrongType(l.fn, "the name of an attachment", "a text", item[0]).Do(attachRemedy)
			}
			if err := l.attach(name, item[1]); err != nil {
				return err
			}
		}
	case *starlark.List, starlark.Tuple:
		all, err := language.List(l.fn, "attachments", "files", v)
		if err != nil {
			return err
		}
		for _, one := range all {
			f, ok := one.(*request.File)
			if !ok { // file("x") is its bytes while it is small, which have no name
				return language.Faultf("%s: attachments is a list, and %s in it has no name", l.fn, language.Describe(one)).In("attachments").Do(attachRemedy)
			}
			if err := l.attach(f.Base(), f); err != nil {
				return err
			}
		}
	default:
		return language.WrongType(l.fn, "attachments", "a dict of contents by name, or a list of files", v).Do(attachRemedy)
	}
	return l.bounded()
}

// attach adds one.
func (l *letter) attach(name string, v starlark.Value) (err error) {
	odd := func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }
	switch {
	case name == "" || len(name) > nameMost || strings.ContainsFunc(name, odd):
		return language.Faultf("%s: attachments has the name %q, and a name has 1 to %d bytes of UTF-8 without control characters", l.fn, language.Clip(name, 40), nameMost).In("attachments").Do("write attachments = {\"invoice.pdf\": file(\"invoice.pdf\")}")
	case len(l.to.Attachments) == attachmentsMost:
		return language.Faultf("%s: attachments has more than %d", l.fn, attachmentsMost).In("attachments").Do("send several messages")
	}
	if err := l.draft.Fixed("attachments", "the name of an attachment", name, "write it out: values stand in its text"); err != nil {
		return err
	}
	a := request.Attachment{Name: name}
	switch v := v.(type) {
	case starlark.String, *secret.Text:
		a.Text, err = l.draft.Text("attachments", v)
	case starlark.Bytes:
		a.Data = []byte(v)
		l.draft.Grow(len(a.Data))
	case *request.File:
		a.File = v
	default:
		return language.WrongType(l.fn, "attachments", "a text, bytes or a file by each name", v).Do(attachRemedy)
	}
	l.to.Attachments = append(l.to.Attachments, a)
	return err
}

// bounded checks how much is attached together.
func (l *letter) bounded() error {
	total := uint64(len(l.to.Body))
	for i := range l.to.Attachments {
		a := &l.to.Attachments[i]
		if total += uint64(len(a.Text) + len(a.Data)); a.File != nil {
			total += min(a.File.Size, letterMost+1)
		}
	}
	if total > letterMost {
		return language.Faultf("%s: body and attachments have more than 128 MiB", l.fn).In("attachments").Do("send less: mail servers take 10 to 50 MiB")
	}
	return nil
}
