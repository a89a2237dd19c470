package curl

import (
	"fmt"
	"hyperscale/core/workflow/language"
	"hyperscale/runtime/convert"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// reader reads curl lines into a plan.
type reader struct{ *convert.Plan }

// Convert converts one or more curl lines, as a person pastes them.
func Convert(text string, o convert.Options) (*convert.File, error) {
	if len(text) > 1<<20 {
		return nil, fmt.Errorf("a curl line of %d bytes: give at most 1 MiB, and what it uploads as a file (-d @file)", len(text))
	}
	p := reader{&convert.Plan{Options: o}}
	p.Head = []string{"Made by: hyperscale new " + path.Base(o.File) + " --from-curl '...'"}
	if !utf8.ValidString(text) {
		p.Note("the line is not UTF-8: the characters that are none are not kept")
	}
	lines := shell{text: unixLine(p.typed(convert.Clean(text))), variable: p.shellVariable, set: p.shellSet, output: p.shellOutput}
	found := false
	all := lines.commands()
	for i, c := range all {
		if args, ok := curlArgs(c.words); ok {
			found = true
			if c.piped && i > 0 {
				c.feed(all[i-1])
			}
			p.curl(args, c)
		}
	}
	if lines.unclosed {
		p.Note("a quote is opened and never closed: the line may be cut off")
	}
	if !found {
		return nil, fmt.Errorf("no curl command is in %q: give the whole line, as in --from-curl 'curl https://shop.example/'", language.Clip(convert.OneLine(text, 60), 60))
	}
	return p.Finish()
}

func (p reader) shellVariable(name string) string {
	if name == "" {
		return ""
	}
	return p.Secret(name, name, "the shell's $"+name)
}

// shellSet is a variable of the text: a param of that value, as a user may want to set it.
func (p reader) shellSet(name, value string) string {
	switch {
	case convert.Marked(value) || !utf8.ValidString(value):
		return value
	case convert.IsSecret(name, value):
		return p.Secret(name, value, "the shell's $"+name)
	}
	return p.Param(name, value, "the shell's $"+name)
}

// feed returns the output of the command before a pipe, if its words determine it.
func (c *command) feed(before command) {
	switch args := before.words[1:]; {
	case before.words[0] == "echo" && len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		c.stdin = strings.Join(args, " ") + "\n"
	case before.words[0] == "cat" && len(args) == 1:
		c.from = args[0]
	case before.words[0] == "cat" && len(args) == 0:
		c.stdin, c.from = before.stdin, before.from
	}
}

func (p reader) shellOutput(code string) string {
	p.Note("what `%s` prints is not known here", language.Clip(code, 60))
	return p.Secret("output of "+language.Clip(code, 30), code, "what this printed: "+code)
}

// curlArgs are the arguments of a curl command.
func curlArgs(words []string) ([]string, bool) {
	for i, w := range words {
		base := strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(w, "\\", "/"))), ".exe")
		if base == "curl" {
			return words[i+1:], true
		}
		if !strings.Contains(" $ % > sudo time env exec do then else if while until ! nohup ", " "+w+" ") && !strings.Contains(w, "=") {
			return nil, false
		}
	}
	return nil, false
}

// curling collects the options of one command, up to --next.
type curling struct {
	p  reader
	in command
	addresses
	redirection
	content
	method   string
	headers  []convert.Pair
	cookies  []string
	auth     *convert.Auth
	digest   bool // how auth is sent
	head     bool
	timeout  string
	user     string // of the proxy
	warnings []string
}

// addresses are where a command's requests go.
type addresses struct {
	urls    []string
	query   []string
	literal bool // [ and { in URLs are themselves
	dots    bool // and so are . and ..
}

// redirection says whether redirects are followed, and how many.
type redirection struct {
	follow bool
	limit  int
}

// content is the body of a command's requests.
type content struct {
	data    []datum
	parts   []convert.Part
	upload  string
	get     bool // the data is the query
	json    bool
	untyped bool // curl sends no Content-Type
}

// curl adds the requests of one command.
func (p reader) curl(args []string, in command) {
	c := &curling{p: p, in: in}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if rest := strings.TrimLeft(arg, "\u2013\u2014"); rest != arg && rest != "" { // - and -- of a word processor
			p.Note("the line has typographic dashes, which curl does not know: they are read as plain ones")
			if arg = "-" + rest; len(rest) > 1 && !strings.Contains(rest, "-") && isKnown(rest) {
				arg = "--" + rest
			}
		}
		switch {
		case arg == "--next" || arg == "-:":
			c.add()
			c = &curling{p: p, in: in}
		case strings.HasPrefix(arg, "--") && len(arg) > 2:
			i += c.long(arg[2:], args[i+1:])
		case strings.HasPrefix(arg, "-") && len(arg) > 1:
			i += c.short(arg[1:], args[i+1:])
		case arg != "" && arg != "-":
			c.urls = append(c.urls, arg)
		}
	}
	c.add()
}

// long handles one option by its name and returns how many further words it used.
func (c *curling) long(name string, rest []string) int {
	options := curlOptions()
	full := name
	if _, ok := options[name]; !ok {
		var meant []string
		for _, n := range curlNames() {
			if strings.HasPrefix(n, name) {
				meant = append(meant, n)
			}
		}
		if len(meant) == 1 {
			full = meant[0]
		}
	}
	o, ok := options[full]
	switch {
	case !ok && strings.HasPrefix(name, "no-"):
		c.off(name[3:])
		return 0
	case !ok:
		c.p.Note("curl's --%s is not known here and is not kept", language.Clip(name, 40))
		return 0
	case !o.value:
		c.set(full, o, "")
		return 0
	case len(rest) == 0:
		c.p.Note("curl's --%s has no value and is not kept", name)
		return 0
	}
	c.set(full, o, rest[0])
	return 1
}

// short reads letters of which the last may have a value.
func (c *curling) short(letters string, rest []string) int {
	for i, letter := range letters {
		name, ok := curlLetters()[letter]
		if !ok {
			c.p.Note("curl's -%c is not known here and is not kept", letter)
			continue
		}
		o := curlOptions()[name]
		if !o.value {
			c.set(name, o, "")
			continue
		}
		if value := letters[i+len(string(letter)):]; value != "" {
			c.set(name, o, value)
			return 0
		}
		if len(rest) == 0 {
			c.p.Note("curl's -%c has no value and is not kept", letter)
			return 0
		}
		c.set(name, o, rest[0])
		return 1
	}
	return 0
}

func (c *curling) off(name string) {
	switch name {
	case "location", "location-trusted":
		c.follow = false
	case "compressed":
		c.p.Compress = false
	case "insecure":
		c.p.Insecure = false
	}
}

// add makes a step of each URL.
func (c *curling) add() {
	if len(c.urls) == 0 {
		if c.method != "" || len(c.headers) > 0 || len(c.data) > 0 {
			c.p.Note("a curl command without a URL is not kept")
		}
		return
	}
	for _, h := range c.headers {
		if strings.HasPrefix(strings.ToLower(h.Name), "sec-") || strings.EqualFold(h.Name, "user-agent") && strings.HasPrefix(h.Value, "Mozilla/") && len(c.headers) > 4 {
			c.p.Browser = true
		}
	}
	made := 0
	for _, address := range c.urls {
		for _, one := range c.globbed(address) {
			if made++; made > urlsMax {
				c.p.Note("only the first %d URLs of a command are kept", urlsMax)
				return
			}
			c.step(one)
		}
	}
}

func (c *curling) step(address string) {
	s := &convert.Step{Method: c.method, Headers: slices.Clone(c.headers), Timeout: c.timeout}
	told := len(c.warnings)
	defer func() { c.warnings = c.warnings[:told] }()
	if !strings.Contains(address, "://") && !strings.HasPrefix(address, string(convert.ParamOpen)) {
		address = "http://" + address
	}
	address = c.userOf(address)
	if !c.dots {
		address = undotted(address)
	}
	if _, rest, ok := strings.Cut(address, "://"); ok && c.upload != "" && !strings.ContainsAny(rest, "/?#") {
		address += "/"
	}
	if before, query, ok := strings.Cut(address, "?"); c.upload != "" && strings.HasSuffix(before, "/") && c.upload != "-" && c.upload != "." {
		if address = before + url.PathEscape(convert.BaseName(c.upload)); ok {
			address += "?" + query
		}
	}
	s.Url = withQuery(address, c.query)
	if c.auth != nil && !convert.Has(s.Headers, "Authorization") { // curl sends the header that it is given
		a := *c.auth
		a.Digest = c.digest && !a.Bearer
		s.Auth = &a
	}
	for _, cookie := range c.cookies {
		if !convert.Has(c.headers, "Cookie") { // curl sends the header that it is given
			s.Headers = append(s.Headers, convert.Pair{Name: "Cookie", Value: cookie})
		}
	}
	if c.follow {
		if m := c.method; m != "" && m != "GET" && m != "HEAD" {
			c.warnings = append(c.warnings, "curl -X "+m+" asks again with "+m+" where it is redirected with 301, 302 or 303: here with GET, as browsers do")
		}
		s.Redirects = 20
		if c.limit > 0 {
			s.Redirects = min(c.limit, 20)
		}
	}
	c.bodyOf(s)
	if c.untyped && s.Body.Kind != convert.BodyNone {
		c.warnings = append(c.warnings, "curl sends no Content-Type with this body: here one is sent")
	}
	if s.Method == "" {
		switch {
		case c.head:
			s.Method = "HEAD"
		case c.upload != "":
			s.Method = "PUT"
		case s.Body.Kind != convert.BodyNone:
			s.Method = "POST"
		default:
			s.Method = "GET"
		}
	}
	for _, w := range c.warnings {
		c.p.Warn(s, "%s", w)
	}
	c.p.Add(s)
}

// userOf takes user:password@ out of a URL.
func (c *curling) userOf(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@')
	if at < 0 {
		return address
	}
	user, password, _ := strings.Cut(rest[:at], ":")
	unescaped := func(s string) string {
		if t, err := url.PathUnescape(s); err == nil {
			return convert.Clean2(t)
		}
		return s
	}
	if c.auth == nil {
		c.auth = &convert.Auth{User: unescaped(user), Password: unescaped(password)}
	}
	return scheme + "://" + rest[at+1:]
}

func withQuery(address string, query []string) string {
	if len(query) == 0 {
		return address
	}
	address, _, _ = strings.Cut(address, "#")
	glue := "?"
	if strings.Contains(address, "?") {
		glue = "&"
		if strings.HasSuffix(address, "?") || strings.HasSuffix(address, "&") {
			glue = ""
		}
	}
	return address + glue + strings.Join(query, "&")
}

// seconds reads curl's times.
func seconds(text string) string {
	d, err := time.ParseDuration(text + "s")
	if err != nil || d <= 0 || d > 24*time.Hour {
		return ""
	}
	return d.String()
}
