package target

import (
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"net/url"
	"strconv"
	"strings"
)

type route uint8

const (
	routeHome route = iota
	routeLogin
	routeMe
	routeJSON
	routeRedirect
	routeCookie
	routeForm
	routeGraphQL
	routeEvents
	routeSocket
	routeDigest
	routeDigestMD5
	routeStats
	routeReset
)

const (
	maxLogin    = 4 << 10
	maxUser     = 256
	tokenPrefix = "user-"
)

func findRoute(path []byte) route {
	switch string(path) {
	case "/login":
		return routeLogin
	case "/me":
		return routeMe
	case "/json":
		return routeJSON
	case "/redirect":
		return routeRedirect
	case "/cookie":
		return routeCookie
	case "/form":
		return routeForm
	case "/graphql":
		return routeGraphQL
	case "/events":
		return routeEvents
	case "/ws":
		return routeSocket
	case "/digest":
		return routeDigest
	case "/digest-md5":
		return routeDigestMD5
	case "/__stats":
		return routeStats
	case "/__reset":
		return routeReset
	}
	return routeHome
}

// respond appends the answer to a request.
func (s *site) respond(c *call, out *output) {
	if c.fate == fateFail {
		s.render(c, out, response{status: 500, kind: typeText, body: "this error was asked for by error-every\n"})
		return
	}
	switch c.route {
	case routeHome:
		s.home(c, out)
	case routeLogin:
		s.render(c, out, only(c.method == methodPost, "POST", func() response { return login(c.body) }))
	case routeMe:
		s.render(c, out, only(c.method.reads(), "GET, HEAD", func() response { return me(c.user) }))
	case routeJSON:
		s.render(c, out, only(c.method.reads(), "GET, HEAD", func() response {
			return response{status: 200, kind: typeJSON, body: `{"message":"hello","items":[1,2,3]}` + "\n"}
		}))
	case routeRedirect:
		s.render(c, out, response{status: 302, kind: typeText, extra: "Location: /\r\n", body: "go to /\n"})
	case routeCookie:
		s.render(c, out, response{status: 200, kind: typeText, extra: "Set-Cookie: session=target; Path=/; HttpOnly\r\n", body: "a cookie is set\n"})
	case routeForm:
		s.render(c, out, form(c, s.stats.Requests))
	case routeGraphQL:
		s.render(c, out, only(c.method == methodPost, "POST", func() response { return graphql(c.body) }))
	case routeEvents:
		s.render(c, out, response{status: 200, kind: typeEvents, body: events})
	case routeSocket:
		s.upgrade(c, out)
	case routeDigest, routeDigestMD5:
		s.render(c, out, s.guarded(c))
	case routeStats:
		s.render(c, out, only(c.method.reads(), "GET, HEAD", func() response {
			return response{status: 200, kind: typeJSON, body: marshal(s.stats.snapshot())}
		}))
	case routeReset:
		s.render(c, out, only(c.method == methodPost, "POST", func() response {
			s.stats = newCounters(s.stats.epoch + 1)
			return response{status: 204}
		}))
	}
}

// only answers requests with the right method and names that method to others.
func only(right bool, allowed string, answer func() response) response {
	if !right {
		return response{status: 405, kind: typeText, extra: "Allow: " + allowed + "\r\n", body: "use " + allowed + "\n"}
	}
	return answer()
}

// guarded says whether a request must prove its user by digest authentication.
func (r route) guarded() bool { return r == routeDigest || r == routeDigestMD5 }

// uncounted says whether a request is about the counters, and none that they tell of.
func (r route) uncounted() bool { return r == routeStats || r == routeReset }

// keepsBody says whether the answer depends on the body of the request.
func (r route) keepsBody() bool { return r == routeLogin || r == routeForm || r == routeGraphQL }

// form asks for a name in a page that carries a token against forgery, another one each
// time, and takes the name only with such a token.
func form(c *call, serial uint64) response {
	switch {
	case c.method.reads():
		token := formToken(strconv.FormatUint(serial, 16))
		return response{status: 200, kind: typeHTML, body: "<!doctype html>\n<title>Form</title>\n<form method=\"post\" action=\"/form\">\n" +
			"  <input type=\"hidden\" name=\"csrf\" value=\"" + token + "\">\n  <input name=\"name\">\n</form>\n"}
	case c.method != methodPost:
		return response{status: 405, kind: typeText, extra: "Allow: GET, HEAD, POST\r\n", body: "use GET, HEAD, POST\n"}
	case len(c.body) > maxLogin:
		return response{status: 413, kind: typeText, body: "keep the body within 4 KiB\n"}
	}
	in, err := url.ParseQuery(string(c.body))
	given := in.Get("csrf")
	serialText, _, _ := strings.Cut(given, ".")
	if err != nil || given != formToken(serialText) {
		return response{status: 403, kind: typeText, body: "send csrf as GET /form tells it\n"}
	}
	return response{status: 201, kind: typeText, extra: "Location: /form/" + serialText + "\r\n", body: "thank you, " + strings.ToValidUTF8(in.Get("name"), "?") + "\n"}
}

// formToken makes recognizable tokens; they are not secret.
func formToken(serial string) string {
	return serial + "." + strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte("form "+serial))), 16)
}

// graphql answers each query with the one user that there is, under the name of the
// variable "name", and one that asks for "missing" with an error, under status 200.
func graphql(body []byte) response {
	var in struct {
		Query     string `json:"query"`
		Variables struct {
			Name string `json:"name"`
		} `json:"variables"`
	}
	const bad = `{"errors":[{"message":"send {\"query\": \"...\"} of at most 4 KiB"}]}` + "\n"
	if err := json.Unmarshal(body, &in); err != nil || in.Query == "" || len(body) > maxLogin {
		return response{status: 400, kind: typeJSON, body: bad}
	}
	if strings.Contains(in.Query, "missing") {
		return response{status: 200, kind: typeJSON, body: `{"data":null,"errors":[{"message":"Cannot query field \"missing\" on type \"User\"."}]}` + "\n"}
	}
	name := in.Variables.Name
	if name == "" {
		name = "ann"
	}
	return response{status: 200, kind: typeJSON, body: marshal(map[string]any{"data": map[string]any{"user": map[string]string{"id": "1", "name": name}}})}
}

// events is a whole stream of server-sent events, as a model answers word by word.
const events = "event: word\nid: 1\ndata: {\"word\": \"the\"}\n\n" +
	"event: word\nid: 2\ndata: {\"word\": \"quick\"}\n\n" +
	": a comment is no event\n\n" +
	"event: word\nid: 3\ndata: {\"word\": \"fox\"}\n\n" +
	"data: [DONE]\n\n"

func login(body []byte) response {
	if len(body) > maxLogin {
		return response{status: 413, kind: typeJSON, body: `{"error":"keep the body within 4 KiB"}` + "\n"}
	}
	var in struct {
		User string `json:"user"`
	}
	if err := json.Unmarshal(body, &in); err != nil || in.User == "" || len(in.User) > maxUser {
		return response{status: 400, kind: typeJSON, body: `{"error":"send {\"user\": name} with a name of 1 to 256 bytes"}` + "\n"}
	}
	token := tokenPrefix + hex.EncodeToString([]byte(in.User))
	return response{status: 200, kind: typeJSON, body: marshal(map[string]string{"token": token})}
}

// userOf returns the user of a token, "" for a foreign one. Tokens contain the name itself, so
// that the target stores no users.
func userOf(token []byte) string {
	digits, ours := strings.CutPrefix(string(token), tokenPrefix)
	user, err := hex.DecodeString(digits)
	if !ours || err != nil || len(user) > maxUser {
		return ""
	}
	return string(user)
}

func me(user string) response {
	if user == "" {
		return response{status: 401, kind: typeJSON, extra: "WWW-Authenticate: Bearer\r\n", body: `{"error":"log in first: POST /login"}` + "\n"}
	}
	return response{status: 200, kind: typeJSON, body: marshal(map[string]string{"user": user})}
}

// marshal renders maps of texts and Stats, which always can be.
func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("target: marshal " + err.Error())
	}
	return string(b) + "\n"
}
