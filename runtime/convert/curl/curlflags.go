package curl

import (
	"hyperscale/core/workflow/language"
	"hyperscale/runtime/convert"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// curlOption describes a known option: whether it has a value, and the note if the plan cannot
// express it. An option with neither a note nor a case in set does not affect the request.
type curlOption struct {
	value bool
	told  string
}

func curlOptions() map[string]curlOption {
	all := map[string]curlOption{}
	for _, name := range strings.Fields(`request header data data-ascii data-binary data-raw data-urlencode json form form-string user oauth2-bearer cookie
 user-agent referer url url-query max-redirs max-time proxy proxy-user cert key cacert resolve upload-file range
 output write-out dump-header cookie-jar trace trace-ascii stderr output-dir`) {
		all[name] = curlOption{value: true}
	}
	for _, name := range strings.Fields(`get head insecure location location-trusted compressed http2 http2-prior-knowledge http1.1 basic digest
 silent show-error verbose include remote-name remote-name-all remote-header-name fail fail-with-body no-buffer progress-bar globoff create-dirs trace-time
 disable path-as-is tr-encoding parallel ssl no-progress-meter no-keepalive tcp-nodelay styled-output disable-eprt disable-epsv`) {
		all[name] = curlOption{}
	}
	told := func(value bool, why, names string) {
		for _, name := range strings.Fields(names) {
			all[name] = curlOption{value, why}
		}
	}
	told(false, "only basic, digest and bearer authorization are spoken", "ntlm negotiate anyauth proxy-digest proxy-ntlm proxy-anyauth")
	told(true, "sign in a function with aws.sign(...)", "aws-sigv4")
	told(true, "nothing is retried: what fails is counted", "retry retry-delay retry-max-time")
	told(false, "nothing is retried: what fails is counted", "retry-connrefused retry-all-errors")
	told(false, "a POST that is redirected becomes a GET, as in browsers", "post301 post302 post303")
	told(true, "a request's timeout holds for connecting too", "connect-timeout")
	told(true, "nothing like it exists", `capath limit-rate speed-limit speed-time interface socks5 socks5-hostname socks4 socks4a preproxy config netrc-file unix-socket
 abstract-unix-socket time-cond continue-at ciphers tls13-ciphers tls-max pass cert-type key-type pinnedpubkey connect-to dns-servers doh-url expect100-timeout keepalive-time
 local-port noproxy proxy-header proxy-cacert service-name max-filesize request-target variable mail-from mail-rcpt ftp-port quote proto proto-default proto-redir crlfile engine etag-save etag-compare hsts alt-svc rate parallel-max libcurl`)
	told(false, "nothing like it exists", "http1.0 http0.9 http3 http3-only ipv4 ipv6 netrc netrc-optional proxytunnel sslv2 sslv3 tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 ssl-reqd proxy-insecure junk-session-cookies haproxy-protocol tcp-fastopen append use-ascii list-only crlf remote-time raw")
	return all
}

func isKnown(name string) bool { _, ok := curlOptions()[name]; return ok }

func curlNames() []string { return slices.Sorted(maps.Keys(curlOptions())) }

func curlLetters() map[rune]string {
	return map[rune]string{
		'X': "request", 'H': "header", 'd': "data", 'F': "form", 'u': "user", 'b': "cookie", 'A': "user-agent", 'e': "referer", 'G': "get", 'I': "head",
		'k': "insecure", 'L': "location", 'm': "max-time", 'x': "proxy", 'U': "proxy-user", 'E': "cert", 'T': "upload-file", 'r': "range",
		's': "silent", 'S': "show-error", 'v': "verbose", 'i': "include", 'o': "output", 'O': "remote-name", 'J': "remote-header-name", 'f': "fail", 'w': "write-out",
		'D': "dump-header", 'c': "cookie-jar", 'N': "no-buffer", '#': "progress-bar", 'g': "globoff", 'q': "disable", 'Z': "parallel",
		'K': "config", 'n': "netrc", 'z': "time-cond", 'C': "continue-at", 'Y': "speed-limit", 'y': "speed-time", '0': "http1.0", '1': "tlsv1",
		'4': "ipv4", '6': "ipv6", 'p': "proxytunnel", 'j': "junk-session-cookies", 'a': "append", 'B': "use-ascii", 'l': "list-only", 'R': "remote-time",
	}
}

// set applies one option.
func (c *curling) set(name string, o curlOption, value string) {
	if o.told != "" {
		c.warnings = append(c.warnings, "curl's --"+name+" is not kept: "+o.told)
		return
	}
	switch name {
	case "request":
		c.method = strings.TrimSpace(convert.Bare(value))
	case "header":
		c.header(value)
	case "url":
		c.urls = append(c.urls, value)
	case "user":
		user, password, ok := strings.Cut(value, ":")
		c.auth = &convert.Auth{User: user, Password: password}
		if !ok && user != "" {
			c.auth.Password = c.p.Secret("password", "curl asks for it: "+user, "curl asks for the password of "+convert.Shown(user))
		}
	case "digest", "basic":
		c.digest = name == "digest"
	case "oauth2-bearer":
		c.auth = &convert.Auth{Bearer: true, Password: value}
	case "cookie":
		if !strings.Contains(value, "=") {
			c.warnings = append(c.warnings, "curl reads cookies from the file "+convert.Shown(value)+": write cookies = {...}")
			return
		}
		c.cookies = append(c.cookies, value)
	case "user-agent":
		if value != "" { // none of it is sent then; here the program's own
			c.headers = append(c.headers, convert.Pair{Name: "User-Agent", Value: value})
		}
	case "referer":
		if value = strings.TrimSuffix(value, ";auto"); value != "" {
			c.headers = append(c.headers, convert.Pair{Name: "Referer", Value: value})
		}
	case "range":
		c.headers = append(c.headers, convert.Pair{Name: "Range", Value: "bytes=" + value})
	case "get":
		c.get = true
	case "head":
		c.head = true
	case "location", "location-trusted":
		c.follow = true
	case "globoff":
		c.literal = true
	case "path-as-is":
		c.dots = true
	case "max-redirs":
		c.limit, _ = strconv.Atoi(value)
	case "max-time":
		if c.timeout = seconds(value); c.timeout == "" {
			c.p.Note("curl's --max-time %q is no time and is not kept", language.Clip(value, 20))
		}
	case "upload-file":
		c.upload = value
	default:
		c.setData(name, value)
	}
}

// setData does what options say that make a body.
func (c *curling) setData(name, value string) {
	switch name {
	case "data", "data-ascii", "data-binary":
		if file, ok := strings.CutPrefix(value, "@"); ok {
			c.data = append(c.data, datum{file: file, lines: name == "data-binary"})
			return
		}
		c.data = append(c.data, datum{text: value})
	case "data-raw":
		c.data = append(c.data, datum{text: value})
	case "json":
		c.json = true
		if file, ok := strings.CutPrefix(value, "@"); ok {
			c.data = append(c.data, datum{file: file, lines: true})
			return
		}
		c.data = append(c.data, datum{text: value})
	case "data-urlencode":
		if i := strings.IndexAny(value, "=@"); i >= 0 && value[i] == '@' {
			d := datum{file: value[i+1:], lines: true, escaped: true}
			if i > 0 {
				d.text = value[:i] + "="
			}
			c.data = append(c.data, d)
			return
		}
		c.data = append(c.data, datum{text: c.urlencoded(value)})
	case "url-query":
		if raw, ok := strings.CutPrefix(value, "+"); ok {
			c.query = append(c.query, raw)
			return
		}
		c.query = append(c.query, c.urlencoded(value))
	case "form", "form-string":
		c.part(value, name == "form")
	default:
		c.setClient(name, value)
	}
}

// setClient does what options say that hold for all requests.
func (c *curling) setClient(name, value string) {
	switch p := c.p; name {
	case "insecure":
		p.Insecure = true
	case "compressed":
		p.Compress = true
	case "http2":
		p.Version = "auto"
	case "http2-prior-knowledge":
		p.Version = "2"
	case "http1.1":
		p.Version = ""
	case "proxy":
		c.proxy(value)
	case "proxy-user":
		if c.user = value; c.p.Proxy != "" {
			c.proxy(strings.TrimPrefix(convert.Bare(p.Proxy), "http://"))
		}
	case "cert", "key", "cacert":
		c.secure(name, value)
	case "resolve":
		all := strings.SplitN(strings.TrimPrefix(value, "+"), ":", 3)
		var address netip.Addr
		if len(all) == 3 {
			address, _ = netip.ParseAddr(strings.Trim(all[2], "[]"))
		}
		if len(all) == 3 && convert.PlainHost(all[0]) && all[0] != "" && address.IsValid() {
			p.Hosts = append(p.Hosts, convert.Pair{Name: strings.ToLower(all[0]), Value: address.String()})
			return
		}
		p.Note("curl's --resolve %s is not kept: it is not name:port:address", convert.Shown(value))
	}
}

// secure takes the files of a client's identity, and of whom it trusts, if they are here.
func (c *curling) secure(name, value string) {
	argument := map[string]string{"cert": "certificate", "key": "key", "cacert": "ca"}[name]
	if file, password, ok := strings.Cut(value, ":"); ok && name == "cert" && password != "" && len(file) > 1 { // C:\\ is a disk
		c.warnings = append(c.warnings, "curl's --cert has a password: write the key without one beside this file, and tls = tls(certificate = file(\"...\"), key = file(\"...\")) in http.client(...)")
		return
	}
	file, ok := c.p.Beside(value)
	if !ok {
		c.warnings = append(c.warnings, "curl's --"+name+" "+convert.Shown(value)+": put the file beside this one and write tls = tls("+argument+" = file(\"...\")) in http.client(...)")
		return
	}
	switch name {
	case "cert":
		c.p.Certificate = file
	case "key":
		c.p.Key = file
	default:
		c.p.Authorities = file
	}
}

func (c *curling) proxy(value string) {
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(convert.Bare(value))
	if err != nil || u.Scheme != "http" || u.Hostname() == "" || !convert.PlainHost(u.Host) {
		c.warnings = append(c.warnings, "curl's proxy "+convert.Shown(value)+" is not kept: only http:// proxies are spoken")
		return
	}
	port := u.Port()
	if port == "" {
		port = "1080" // as curl has it
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		c.warnings = append(c.warnings, "curl's proxy "+convert.Shown(value)+" is not kept: its port is none")
		return
	}
	u.Host = net.JoinHostPort(u.Hostname(), port)
	if u.User != nil || c.user != "" {
		c.warnings = append(c.warnings, "the proxy's user and password are not kept: write proxy = \"http://user:password@host:port\"")
	}
	c.p.Proxy = "http://" + u.Host
}

// header adds "Name: value"; "Name:" takes one away, "Name;" has no value.
func (c *curling) header(text string) {
	name, value, ok := strings.Cut(text, ":")
	if strings.HasPrefix(text, ":") { // :authority of HTTP/2, as browsers copy it
		return
	}
	if !ok {
		if name, ok = strings.CutSuffix(text, ";"); !ok {
			if strings.HasPrefix(text, "@") {
				c.warnings = append(c.warnings, "curl reads headers from the file "+convert.Shown(text[1:])+": write headers = {...}")
			}
			return
		}
	} else if strings.TrimSpace(value) == "" {
		c.untyped = c.untyped || strings.EqualFold(strings.TrimSpace(name), "Content-Type")
		return
	}
	c.headers = append(c.headers, convert.Pair{Name: name, Value: strings.TrimSpace(value)})
}

// urlencoded reads content, =content, name=content, @file, name@file.
func (c *curling) urlencoded(text string) string {
	if i := strings.IndexAny(text, "=@"); i >= 0 && text[i] == '@' {
		c.warnings = append(c.warnings, "curl sends what is in the file "+convert.Shown(text[i+1:])+": here it is a text")
		content := escapeMarked("contents of " + convert.BaseName(text[i+1:]))
		if i == 0 {
			return content
		}
		return text[:i] + "=" + content
	}
	name, content, ok := strings.Cut(text, "=")
	switch {
	case !ok:
		return escapeMarked(text)
	case name == "":
		return escapeMarked(content)
	}
	return name + "=" + escapeMarked(content)
}

// escapeMarked is QueryEscape around marks.
func escapeMarked(s string) string {
	var b strings.Builder
	for _, piece := range convert.Pieces(s) {
		if piece.Mark == 0 {
			b.WriteString(url.QueryEscape(piece.Text))
		} else {
			b.WriteString(string(piece.Mark) + piece.Text + string(convert.MarkClose))
		}
	}
	return b.String()
}
