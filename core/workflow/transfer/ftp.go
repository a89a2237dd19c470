package transfer

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

// FTPSchemes are those of ftp.client.
func FTPSchemes() request.Schemes {
	return request.Schemes{Plain: "ftp", Secure: "ftps", Port: 21, SecurePort: 990, User: true}
}

// FTPClientArguments are those of ftp.client.
func FTPClientArguments() []string { return []string{"url", "password", "tls"} }

// FTPArguments are those of a verb.
func FTPArguments(verb request.FTPVerb) []string {
	names := []string{"target", "path"}
	switch verb {
	case request.FTPPut:
		names = append(names, "data")
	case request.FTPRename:
		names = append(names, "to")
	case request.FTPList:
		names = append(names, "names")
	}
	return append(names, "timeout", "retry")
}

// anonymous are users who need no password.
func anonymous(user string) bool { return user == "" || user == "anonymous" || user == "ftp" }

// ftpClient is the result of ftp.client.
type ftpClient struct {
	language.Opaque
	of       request.FTP
	password starlark.Value // a text or a secret; nil: it is in of
	key      *secret.Text   // of tls; nil: it is in of
}

// fill puts in what proves the user: a function's secrets have values.
func (c *ftpClient) fill(to *request.FTP) (err error) {
	if c.password != nil {
		if to.Password, _, err = request.SentText(c.password); err != nil {
			return err
		}
	}
	return to.Secure.SentKey(c.key)
}

// newFTPClient is ftp.client.
func newFTPClient(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "ftp.client"
	var in [3]starlark.Value
	if err := language.Bind(fn, FTPClientArguments(), 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	t, err := FTPSchemes().Read(fn, in[0])
	if err != nil {
		return nil, err
	}
	c := &ftpClient{Opaque: language.Opaque{Kind: fn}, of: request.FTP{Target: t, User: t.User, Password: t.Password}, password: in[1]}
	t.User, t.Password = "", ""
	if err := c.proven(fn); err != nil {
		return nil, err
	}
	return c, c.secured(fn, in[2])
}

// proven checks what proves the user.
func (c *ftpClient) proven(fn string) error {
	const remedy = `write ftp.client("ftp://app@host", password = secret("ftp"), tls = "explicit")`
	text, ok, err := request.SentText(c.password)
	switch {
	case err != nil:
		return err
	case c.password != nil && c.of.Password != "":
		return language.Faultf("%s has a password in its URL, and password", fn).In("password").Do("keep one of them")
	case c.password == nil && c.of.Password == "" && !anonymous(c.of.User):
		return language.Faultf("%s: user %q has no password", fn, language.Clip(c.of.User, 40)).In("url").Do("%s", remedy)
	case c.password != nil && c.of.User == "":
		return language.Faultf("%s has a password, and its URL has no user", fn).In("url").Do("%s", remedy)
	case c.password == nil:
		text, ok = c.of.Password, true
	}
	switch {
	case !ok:
		return language.WrongType(fn, "password", "a text or a secret", c.password).Do("write password = secret(\"ftp\"), and give it by --secret ftp=file:PATH")
	case c.password != nil && text == "":
		return language.Faultf("%s: password is empty", fn).In("password").Do("write password = secret(\"ftp\")")
	case strings.Contains(text, "${"):
		return language.Faultf("%s: password has ${ in it, and a connection serves all iterations of its user", fn).In("password").Do("write it out, or take it from a secret")
	case strings.ContainsAny(text+c.of.User, "\r\n\x00"):
		return language.Faultf("%s: user or password has a line break or a zero byte in it", fn).In("password").Do("take it out: it ends a command")
	}
	return nil
}

// secured reads whether a connection has TLS. A password goes out in clear only if the file says so.
func (c *ftpClient) secured(fn string, v starlark.Value) (err error) {
	word, isWord := v.(starlark.String)
	switch {
	case c.of.Target.Secure && isWord:
		return language.Faultf("%s has tls = %q, and its URL is of ftps://, which has TLS from the first byte", fn, language.Clip(string(word), 40)).In("tls").Do("take tls out, or write ftp://host")
	case v == nil && !c.of.Target.Secure && (c.password != nil || c.of.Password != ""):
		return language.Faultf("%s has a password and no tls, and the password would go out in clear", fn).Do("write tls = \"explicit\", or tls = \"never\" for a server without TLS")
	case isWord:
		how, err := builtin.OneOf(fn, "tls", v, []string{"explicit", "never"})
		c.of.Explicit = how == "explicit"
		return err
	case v == nil:
		return nil
	}
	c.of.Explicit = !c.of.Target.Secure
	c.key, err = c.of.Secure.Options(fn, v)
	return err
}

// ftpTarget reads a URL, or the result of ftp.client.
func ftpTarget(fn string, v starlark.Value) (to request.FTP, err error) {
	if c, ok := v.(*ftpClient); ok {
		to = c.of
		return to, c.fill(&to)
	}
	if _, ok := v.(starlark.String); !ok && v != nil {
		return to, language.WrongType(fn, "target", "a URL or the result of ftp.client", v).Do("write %s(\"ftp://host\", \"/pub/x\", ...)", fn)
	}
	if to.Target, err = FTPSchemes().Read(fn, v); err != nil {
		return to, err
	}
	if to.User = to.Target.User; to.User != "" {
		return to, language.Faultf("%s: the URL has a user in it", fn).In("target").Do("write f = ftp.client(\"ftp://app@host\", password = secret(\"ftp\"), tls = \"explicit\"), and give f")
	}
	return to, nil
}

// FTP is ftp and vu.ftp.
func FTP(under string, own []string, use request.Use) *language.Namespace {
	members := starlark.StringDict{}
	for i, word := range request.FTPVerbs() {
		members[word] = ftpFunc(under+"."+word, word, request.FTPVerb(i), own, use)
	}
	if under == "ftp" {
		members["client"] = &guard.Func{Word: "client", Call: newFTPClient}
	}
	return language.NewNamespace(under, members)
}

// ftpFunc is a function that does something with a file.
func ftpFunc(fn, word string, verb request.FTPVerb, own []string, use request.Use) *guard.Func {
	names := append(FTPArguments(verb), own...)
	return &guard.Func{Word: word, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		o := operation{fn: fn, names: names, in: make([]starlark.Value, len(names))}
		if err := language.Bind(fn, names, slices.Index(names, "timeout"), args, kwargs, o.in); err != nil {
			return nil, err
		}
		to, err := ftpTarget(fn, o.of("target"))
		if err != nil {
			return nil, err
		}
		o.draft = request.NewDraft(thread, fn)
		if err := o.readFTP(&to, verb); err != nil {
			return nil, o.draft.Explain(err)
		}
		r := &request.Request{Method: strings.ToUpper(word), URL: to.Target.URL(), Exchange: request.Exchange{FTP: &to}}
		return o.draft.End(r, o.in[slices.Index(names, "timeout"):], use)
	}}
}

// readFTP reads the arguments of a request of FTP.
func (o *operation) readFTP(to *request.FTP, verb request.FTPVerb) (err error) {
	to.Verb = verb
	if verb != request.FTPList || o.of("path") != nil {
		if to.Path, err = o.line("path"); err != nil {
			return err
		}
	}
	switch verb {
	case request.FTPRename:
		to.To, err = o.line("to")
	case request.FTPPut:
		err = o.data()
		to.Data, to.File = o.to.Data, o.to.File
	case request.FTPList:
		if v := o.of("names"); v != nil {
			alone, ok := v.(starlark.Bool)
			if !ok {
				return language.WrongType(o.fn, "names", "True or False", v)
			}
			to.Names = bool(alone)
		}
	}
	return err
}

// line reads a path that stands in a command, which a line break would end.
func (o *operation) line(name string) (string, error) {
	text, err := o.path(name)
	if err == nil && strings.ContainsAny(o.draft.Cut(text), "\r\n") {
		return "", language.Faultf("%s: %s has a line break in it, which ends a command", o.fn, name).In(name).Do("take it out")
	}
	return text, err
}

// Word is the function that a request of files comes from.
func Word(r *request.Request) string {
	if r.FTP != nil {
		return "ftp." + request.FTPVerbs()[r.FTP.Verb]
	}
	return r.SFTP.Target.Scheme + "." + request.SFTPVerbs()[r.SFTP.Verb]
}
