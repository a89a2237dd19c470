package api

import (
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// Bounds of a page's session.
const (
	sessionAge = 12 * time.Hour
	loginMax   = 4 << 10 // bytes
)

// Login is the body of POST /v1/session.
type Login struct {
	Token string `json:"token"`
}

// Caller is whose token it is.
type Caller struct {
	Name  string `json:"name"`
	Role  string `json:"role"`  // viewer, submitter or operator
	Until string `json:"until"` // when the token ends; empty: it does not

	Job string `json:"job,omitempty"` // that the request's Idempotency-Key names for this caller
}

func (c *call) caller() Caller {
	all := Caller{Name: c.who.Name, Role: c.who.Right.String()}
	if !c.who.Until.IsZero() {
		all.Until = c.who.Until.Format(time.RFC3339)
	}
	return all
}

func (c *call) whoami() error {
	caller := c.caller()
	if c.r.Header.Get(KeyHeader) != "" {
		caller.Job = c.named().String()
	}
	return c.answer(http.StatusOK, caller)
}

// begin makes a cookie of a token. The header of changes must be there: another site's form logs no one in.
func (c *call) begin() error {
	if c.r.Header.Get(changeHeader) == "" {
		return fault(http.StatusForbidden, "forgery", "a session needs the header %s: 1", changeHeader)
	}
	var in Login
	b, err := io.ReadAll(io.LimitReader(c.r.Body, loginMax+1))
	if err != nil || len(b) > loginMax || json.Unmarshal(b, &in) != nil || in.Token == "" {
		return fault(http.StatusBadRequest, "bad_body", `the body is no {"token": "..."} of at most %d bytes: send the token so`, loginMax)
	}
	var ok bool
	if c.who, ok = c.server.config.Tokens.Find(in.Token); !ok {
		return c.unknown("the token is unknown or has ended: an operator makes one with `hyperscale token new`")
	}
	c.keep()
	http.SetCookie(c.w, c.server.cookie(in.Token, int(sessionAge.Seconds())))
	return c.answer(http.StatusOK, c.caller())
}

// leave takes the cookie away.
func (c *call) leave() error {
	http.SetCookie(c.w, c.server.cookie("", -1))
	c.due()
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) cookie(value string, age int) *http.Cookie {
	return &http.Cookie{Name: cookie, Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.config.Cert != ""}
}
