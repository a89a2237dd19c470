package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/node"
	"hyperscale/runtime/api/frames"
	"hyperscale/runtime/api/tokens"
	"hyperscale/runtime/live"
)

// cookie holds a page's token: EventSource sends no headers.
const cookie = "hyperscale_session"

// changeHeader goes with each call that changes something and has a cookie: a form of another site cannot send it.
const changeHeader = "X-Hyperscale"

// call is one request.
type call struct {
	server *Server
	w      *counted
	r      *http.Request
	route  *route
	who    tokens.Token
	held   *room  // the place that it has
	job    string // that it is about, for the log
	order  string // what else the log has of it

	quiet   bool   // it changes nothing, whatever its method
	outcome string // what the gates answered, where that is no Fault
}

// handler answers every request.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	for i := range s.routes {
		route := &s.routes[i]
		methods[route.Path] = append(methods[route.Path], route.Method)
		mux.HandleFunc(route.Method+" "+route.Path, func(w http.ResponseWriter, r *http.Request) {
			c := &call{server: s, w: under(w, route.Method+" "+route.Path), r: r, route: route}
			c.serve()
		})
	}
	for path, allowed := range methods { //lint:orderfree the mux orders its patterns
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			write(w, fault(http.StatusMethodNotAllowed, "method", "use one of the methods %s here", strings.Join(allowed, ", ")))
		})
	}
	pages := live.Assets() // they show nothing without a token
	for _, path := range []string{"GET /{$}", "GET /jobs/{id}", "GET /cluster", "GET /live/"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { pages.ServeHTTP(under(w, routePage), r) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		write(w, fault(http.StatusNotFound, "unknown_path", "nothing is here: GET /v1/openapi.json lists what is"))
	})
	return http.HandlerFunc(func(bare http.ResponseWriter, r *http.Request) {
		began, w := time.Now(), under(bare, routeOther)
		defer func() { s.figures.note(w, time.Since(began)) }()
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Connection", "close") // until a token admits the call
		s.due(w)
		if !s.hosts[hostOf(r.Host)] {
			write(w, fault(http.StatusMisdirectedRequest, "host", "Host is %q, which is no name of this server: call it by one, or add the name to --api-host", r.Host))
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// hostOf is a Host header without its port.
func hostOf(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// serve checks the caller, and answers. A place is for callers that a token admits; one of an open route has a connection alone.
func (c *call) serve() {
	err := c.admit()
	if err == nil && !c.route.stream && !c.route.open {
		err = c.enter(&c.server.load.requests)
	}
	defer c.release()
	if err == nil && c.route.changes() && !c.route.open && c.route.other != frames.Type {
		err = c.server.load.orders.send(c.who.Name, time.Now())
	}
	if err == nil {
		err = c.route.do(c)
	}
	if err != nil {
		c.fail(err)
	} else {
		c.w.reason = c.outcome
	}
	if c.route.changes() && (!c.quiet || err != nil) {
		c.audit(err)
	}
}

// due gives a reader the whole time for an answer that begins now.
func (c *call) due() { c.server.due(c.w) }

func (s *Server) due(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.patience)) // of any connection of net/http
}

// keep lets the connection live: a token has admitted the call.
func (c *call) keep() { c.w.Header().Del("Connection") }

// admit rejects callers without a token, and those whose token does not allow it.
func (c *call) admit() error {
	if c.route.open {
		return nil
	}
	text, ambient := tokenOf(c.r)
	var ok bool
	if text == "" {
		var why string
		if c.who, why = c.server.admitted(c.r.TLS); why != "" {
			return c.unknown(why)
		}
		ambient = true
	} else if c.who, ok = c.server.config.Tokens.Find(text); !ok {
		return c.unknown("the token is unknown or has ended: an operator makes one with `hyperscale token new`")
	}
	c.keep()
	if ambient && c.route.Method != http.MethodGet && c.r.Header.Get(changeHeader) == "" { // browsers add cookies and certificates to calls of any page
		return fault(http.StatusForbidden, "forgery", "a call that changes something by a cookie or a certificate needs the header %s: 1", changeHeader)
	}
	if !c.who.Right.Has(c.route.Right) {
		return fault(http.StatusForbidden, "forbidden", "%s %s needs the role %v, and %s is a %v: use a token of that role", c.route.Method, c.route.Path, c.route.Right, c.who.Name, c.who.Right)
	}
	return nil
}

// unknown rejects a caller without a valid token.
func (c *call) unknown(format string) error {
	c.w.Header().Set("WWW-Authenticate", "Bearer")
	return fault(http.StatusUnauthorized, "unauthorized", "%s", format)
}

// tokenOf is the token that a request brings, and whether a cookie has it.
func tokenOf(r *http.Request) (text string, byCookie bool) {
	if h := r.Header.Get("Authorization"); h != "" {
		scheme, text, _ := strings.Cut(h, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return "", false
		}
		return strings.TrimSpace(text), false
	}
	if k, err := r.Cookie(cookie); err == nil {
		return k.Value, true
	}
	return "", false
}

// answer writes a value as JSON.
func (c *call) answer(status int, v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.due()
	c.w.WriteHeader(status)
	_, _ = c.w.Write(b) // the caller has hung up
	return nil
}

func encode(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	return append(b, '\n'), err
}

// fail writes an error.
func (c *call) fail(err error) {
	var f *Fault
	if !errors.As(err, &f) {
		c.server.config.Logger.Error("the HTTP API cannot answer", "path", c.r.URL.Path, "error", err.Error())
		f = fault(http.StatusInternalServerError, "internal", "see the gate's log")
	}
	c.due()
	write(c.w, f)
}

func write(w http.ResponseWriter, f *Fault) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if f.RetryAfterSeconds > 0 {
		h.Set("Retry-After", strconv.Itoa(f.RetryAfterSeconds))
	}
	b, err := encode(Failure{*f})
	if err != nil {
		b = []byte("{}\n")
	}
	if c, is := w.(*counted); is {
		c.reason = f.Code
	}
	w.WriteHeader(f.status)
	_, _ = w.Write(b) // the caller has hung up
}

// pathMax bounds what the log has of a path, in bytes.
const pathMax = 256

// audit logs a call that changes something. The token's name and role are in it, never the token. Lines of callers without a
// token are bounded: the next one says how many were left out.
func (c *call) audit(err error) {
	outcome := cmp.Or(c.outcome, "done")
	var f *Fault
	if errors.As(err, &f) {
		outcome = f.Code
	} else if err != nil {
		outcome = "internal"
	}
	role, dropped := "", 0
	if c.who.Name != "" {
		role = c.who.Right.String()
	} else {
		var ok bool
		if dropped, ok = c.server.unknown.take(time.Now()); !ok {
			return
		}
	}
	from, _, _ := net.SplitHostPort(c.r.RemoteAddr)
	path := strings.ToValidUTF8(c.r.URL.Path[:min(len(c.r.URL.Path), pathMax)], "?")
	line := []any{"subject", c.who.Name, "role", role, "method", c.route.Method, "path", path, "job", c.job, "from", from, "outcome", outcome}
	if c.order != "" {
		line = append(line, "order", c.order)
	}
	if dropped > 0 {
		line = append(line, "left_out", dropped)
	}
	c.server.config.Logger.Info("api call", line...)
}

// operator says that the caller may change jobs of others.
func (c *call) operator() bool { return c.who.Right == node.RightOperate }

func stampOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size(), info.Mode(), ";")
}
