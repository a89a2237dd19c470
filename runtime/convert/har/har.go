package har

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hyperscale/runtime/convert"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// recording is the part of HAR 1.2 that the package reads.
type recording struct {
	Log *struct {
		Entries []entry `json:"entries"`
	} `json:"log"`
}

type entry struct {
	Started  string      `json:"startedDateTime"`
	Time     float64     `json:"time"`
	Kind     string      `json:"_resourceType"`
	Request  harRequest  `json:"request"`
	Response harResponse `json:"response"`

	at   time.Time
	host string
}

type harRequest struct {
	Method  string    `json:"method"`
	URL     string    `json:"url"`
	Headers []harPair `json:"headers"`
	Query   []harPair `json:"queryString"`
	Cookies []harPair `json:"cookies"`
	Size    float64   `json:"bodySize"`
	Post    *struct {
		Kind     string    `json:"mimeType"`
		Text     string    `json:"text"`
		Params   []harPair `json:"params"`
		Encoding string    `json:"encoding"`
	} `json:"postData"`
}

type harResponse struct {
	Status  int       `json:"status"`
	Headers []harPair `json:"headers"`
	Content struct {
		Kind     string `json:"mimeType"`
		Text     string `json:"text"`
		Encoding string `json:"encoding"`
	} `json:"content"`
}

type harPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	File  string `json:"fileName"`
	Kind  string `json:"contentType"`
}

// Pauses between requests shorter than the first are none; longer ones than the last are it.
const (
	pauseMin = time.Second
	pauseMax = 10 * time.Second
)

// recorder reads a recording into a plan.
type recorder struct{ *convert.Plan }

// Convert converts a browser's recording.
func Convert(data []byte, o convert.Options) (*convert.File, error) {
	if len(data) > convert.SourceMax {
		return nil, fmt.Errorf("a recording of %d bytes, the limit is 64 MiB: record less, or without the contents of answers", len(data))
	}
	data, err := convert.PlainText(data)
	if err != nil {
		return nil, fmt.Errorf("no HAR: %w: \"Save all as HAR\" in the browser's network tab writes one", err)
	}
	var r recording
	err = json.Unmarshal(data, &r)
	var wrongType *json.UnmarshalTypeError // one field is not as it should be: the rest is
	if err != nil && !errors.As(err, &wrongType) {
		return nil, fmt.Errorf("no HAR, which is JSON: %w: save it with \"Save all as HAR\" in the browser's network tab", err)
	}
	if r.Log == nil && len(data) < 8<<20 {
		if root, err := convert.Document(data); err == nil && convert.Known(root) != "" {
			return nil, errors.New("no HAR" + convert.Known(root))
		}
	}
	if r.Log == nil || len(r.Log.Entries) == 0 {
		return nil, errors.New("no HAR: it has no log.entries: save it with \"Save all as HAR\" in the browser's network tab")
	}
	p := recorder{&convert.Plan{Options: o, Browser: true}}
	if !utf8.Valid(data) {
		p.Note("it is not UTF-8: the characters that are none are not kept")
	}
	entries := p.choose(r.Log.Entries)
	p.Head = []string{fmt.Sprintf("Made by: hyperscale new %s --from-har %s", path.Base(o.File), path.Base(o.From))}
	c := newCorrelator(p)
	var end time.Time
	for i := range entries {
		if len(p.Steps) == convert.StepsMax {
			p.Note("the first %d of %d requests are in the file: more are no test that a person reads", convert.StepsMax, len(entries))
			break
		}
		e := &entries[i]
		s := p.recorded(e, c)
		if gap := e.at.Sub(end); !end.IsZero() && !e.at.IsZero() && gap >= pauseMin {
			s.Pause = min(gap.Round(time.Second), pauseMax)
		}
		if !p.Add(s) {
			continue
		}
		took := time.Duration(max(0, min(e.Time, 1e7)) * float64(time.Millisecond))
		if p.Slowest = max(p.Slowest, took); !e.at.IsZero() {
			end = e.at.Add(took)
		}
		c.request(s)
		c.response(s, e)
	}
	c.tell()
	p.tellPauses()
	return p.Finish()
}

// tellPauses notes how long an iteration lasts at least. A first try is often shorter, and
// would silently lack its last steps.
func (p recorder) tellPauses() {
	var all time.Duration
	for i, s := range p.Steps {
		if i > 0 {
			all += s.Pause
		}
	}
	if all >= pauseMax/2 {
		p.Note("each iteration pauses for %v in all, as recorded: a run that is shorter does not reach its last steps; shorten vu.sleep(...) to try it", all)
	}
}

// choose orders the entries and drops those that are no part of the test.
func (p recorder) choose(all []entry) []entry {
	for i := range all {
		e := &all[i]
		e.at, _ = time.Parse(time.RFC3339Nano, e.Started)
		if u, err := url.Parse(e.Request.URL); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
			e.host = strings.ToLower(u.Hostname())
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return a.at.Compare(b.at) })
	site := mainSite(all)
	var kept []entry
	left := map[string]int{}
	leave := func(why string) { left[why]++ }
	for _, e := range all {
		switch {
		case e.host == "":
			leave("that are not HTTP")
		case e.Request.Method == "CONNECT":
			leave("that open tunnels through a proxy")
		case e.Kind == "websocket" || e.Response.Status == 101:
			leave("that became WebSockets")
		case p.Options.All:
			kept = append(kept, e)
		case e.static():
			leave("for static files (images, styles, scripts, fonts); --all keeps them")
		case siteOf(e.host) != site:
			leave("to other hosts than those of " + site + "; --all keeps them")
		case e.Request.Method == "OPTIONS" && hasHeader(e.Request.Headers, "Access-Control-Request-Method"):
			leave("that browsers make by themselves (CORS); --all keeps them")
		default:
			kept = append(kept, e)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(left)) {
		p.Note("left out %s %s", convert.Counted(left[why], "request"), why)
	}
	return kept
}

// mainSite is that of the first page, or of the first request that is no static file.
func mainSite(all []entry) string {
	first := ""
	for i := range all {
		e := &all[i]
		if e.host == "" || e.static() {
			continue
		}
		if e.Kind == "document" || strings.Contains(e.Response.Content.Kind, "html") && e.Response.Status < 300 {
			return siteOf(e.host)
		}
		if first == "" {
			first = siteOf(e.host)
		}
	}
	if first == "" && len(all) > 0 {
		first = siteOf(all[0].host)
	}
	return first
}

// siteOf is the domain that its owner registered: shop.co.uk of api.shop.co.uk.
func siteOf(host string) string {
	if site, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return site
	}
	return host
}

func hasHeader(all []harPair, name string) bool {
	return slices.ContainsFunc(all, func(h harPair) bool { return strings.EqualFold(h.Name, name) })
}

func (e *entry) static() bool {
	if e.Request.Method != "GET" && e.Request.Method != "HEAD" && e.Request.Method != "" {
		return false
	}
	switch e.Kind {
	case "image", "font", "stylesheet", "script", "media", "manifest", "texttrack":
		return true
	case "document", "xhr", "fetch":
		return false
	}
	kind, _, _ := strings.Cut(strings.ToLower(e.Response.Content.Kind), ";")
	if major, _, _ := strings.Cut(kind, "/"); major == "image" || major == "font" || major == "audio" || major == "video" {
		return true
	}
	if kind == "text/css" || strings.Contains(kind, "javascript") || strings.Contains(kind, "font") {
		return true
	}
	file, _, _ := strings.Cut(e.Request.URL, "?")
	ext := strings.ToLower(path.Ext(file))
	return ext != "" && strings.Contains(" .png .jpg .jpeg .gif .svg .webp .avif .ico .css .js .mjs .map .woff .woff2 .ttf .otf .eot .mp4 .webm .mp3 ", " "+ext+" ")
}

// recorded is the step of an entry.
func (p recorder) recorded(e *entry, c *correlator) *convert.Step {
	s := &convert.Step{Method: convert.Clean(e.Request.Method), Url: convert.Clean(e.Request.URL), Status: e.Response.Status}
	if s.Status == 304 {
		s.Status = 200 // what made the answer empty, the browser's cache, is not here
	}
	if s.Status < 100 || s.Status > 599 {
		s.Status = 0
		if e.Response.Status == 0 {
			p.Note("to some requests no answer was recorded: they have no expect")
		}
	}
	if !strings.Contains(s.Url, "?") {
		for _, q := range e.Request.Query {
			s.Params = append(s.Params, convert.Pair{Name: convert.Clean(q.Name), Value: convert.Clean(q.Value)})
		}
	}
	for _, h := range e.Request.Headers {
		if !strings.EqualFold(h.Name, "Cookie") {
			s.Headers = append(s.Headers, convert.Pair{Name: convert.Clean(h.Name), Value: convert.Clean(h.Value)})
		}
	}
	c.cookies(s, e)
	if post := e.Request.Post; post != nil {
		p.posted(s, e)
	}
	if s.Body.Kind == convert.BodyNone && e.sent() > 0 {
		p.Warn(s, "its body of %d bytes is not in the recording: write one", e.sent())
	}
	return s
}

// sent is how long a body was.
func (e *entry) sent() int64 {
	for _, h := range e.Request.Headers {
		if strings.EqualFold(h.Name, "Content-Length") {
			n, _ := strconv.ParseInt(strings.TrimSpace(h.Value), 10, 64) // 0 if it is no number
			return n
		}
	}
	return int64(max(0, min(e.Request.Size, 1<<40)))
}

// posted is the body of an entry: its text, or else the params that were read from it.
func (p recorder) posted(s *convert.Step, e *entry) {
	post := e.Request.Post
	text := post.Text
	if post.Encoding == "base64" {
		raw, err := base64.StdEncoding.DecodeString(text)
		if text = string(raw); err != nil {
			p.Warn(s, "its body is not the base64 that the recording calls it: write one")
			return
		}
	}
	kind, _, _ := strings.Cut(strings.ToLower(post.Kind), ";")
	switch {
	case strings.TrimSpace(kind) == "multipart/form-data" && len(post.Params) > 0:
		s.Body.Kind = convert.BodyMultipart
		for _, q := range post.Params {
			one := convert.Part{Name: convert.Clean(q.Name), Value: convert.Clean(q.Value), Filename: convert.Clean(q.File), Kind: convert.Clean(q.Kind)}
			if q.File != "" && q.Value == "" {
				file := convert.BaseName(one.Filename)
				one.Value = "contents of " + file
				p.Warn(s, "the file %s was sent, and recordings do not have it: put it beside this one and write file(%q)", file, file)
			}
			s.Body.Parts = append(s.Body.Parts, one)
		}
		p.TidyParts(s)
		return
	case text == "" && len(post.Params) > 0:
		s.Body.Kind = convert.BodyForm
		for _, q := range post.Params {
			s.Body.Form = append(s.Body.Form, convert.Pair{Name: convert.Clean(unescaped(q.Name)), Value: convert.Clean(unescaped(q.Value))})
		}
		return
	case text == "":
		return
	}
	s.Body = convert.Body{Kind: convert.BodyText, Text: text}
	if cleaned := convert.Clean(text); cleaned != text {
		s.Body.Bytes = true
	}
	if post.Kind != "" && !slices.ContainsFunc(s.Headers, func(h convert.Pair) bool { return strings.EqualFold(h.Name, "Content-Type") }) {
		s.Headers = append(s.Headers, convert.Pair{Name: "Content-Type", Value: convert.Clean(post.Kind)})
	}
}

// unescaped undoes the escaping that some recorders leave in params.
func unescaped(s string) string {
	if strings.Contains(s, "%") {
		if t, err := url.QueryUnescape(s); err == nil {
			return t
		}
	}
	return s
}
