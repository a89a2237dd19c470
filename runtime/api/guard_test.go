package api

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/api/tokens"
)

// TestEveryRouteNeedsItsRole: each one, with each role, with none, and with a token that is not in the file.
func TestEveryRouteNeedsItsRole(t *testing.T) {
	s := start(t)
	for _, r := range routes() {
		path := strings.ReplaceAll(r.Path, "{id}", (message.JobID{7}).String())
		if r.open {
			continue
		}
		for _, header := range []string{"", "Bearer hs_x", "Basic eDp4", "Bearer"} {
			got := s.send(r.Method, path, "", "Authorization", header)
			require.Equal(t, http.StatusUnauthorized, got.status, "%s %s", r.Method, r.Path)
			require.Equal(t, "Bearer", got.header.Get("WWW-Authenticate"))
		}
		for _, right := range []node.Right{node.RightView, node.RightSubmit} {
			if !right.Has(r.Right) {
				got := s.call(right, r.Method, path, "")
				require.Equal(t, http.StatusForbidden, got.status, "%s %s as %v", r.Method, r.Path, right)
			}
		}
	}
	require.Empty(t, s.gates.asked)
	require.Equal(t, http.StatusNotFound, s.call(node.RightView, http.MethodGet, "/v2", "").status)
	got := s.call(node.RightView, http.MethodPut, "/v1/jobs", "")
	require.Equal(t, http.StatusMethodNotAllowed, got.status)
	require.NotEmpty(t, got.header.Get("Allow"))
}

// TestTokensAreReread: a token that is taken out of the file counts no more, for new calls.
func TestTokensAreReread(t *testing.T) {
	now := time.Now()
	s := start(t)
	known, err := tokens.Open(s.file, func() time.Time { return now }, nil)
	require.NoError(t, err)
	s.api.config.Tokens = known
	require.Equal(t, http.StatusOK, s.call(node.RightView, http.MethodGet, "/v1/whoami", "").status)
	text, other, err := tokens.New("late", node.RightView, time.Time{})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.file, []byte(other.Line()), 0o600))
	now = now.Add(time.Second)
	require.Equal(t, http.StatusUnauthorized, s.call(node.RightView, http.MethodGet, "/v1/whoami", "").status)
	got := s.send(http.MethodGet, "/v1/whoami", "", "Authorization", "Bearer "+text)
	require.JSONEq(t, `{"name": "late", "role": "viewer", "until": ""}`, string(got.body))
}

// TestPagesOfOtherSites: another Host gets nothing, nor does a form with a cookie; no answer has CORS headers.
func TestPagesOfOtherSites(t *testing.T) {
	s := start(t, func(c *Config) { c.Hosts = []string{"gate.example:7400"} })
	for host, want := range map[string]int{"evil.example": 421, "127.0.0.1.evil.example:1": 421, "gate.example": 200, "GATE.example:9": 200, "localhost:1": 200, "[::1]:7": 200} {
		got := s.call(node.RightView, http.MethodGet, "/v1/whoami", "", "Host", host, "Origin", "http://evil.example")
		require.Equal(t, want, got.status, host)
		require.Empty(t, got.header.Get("Access-Control-Allow-Origin"))
	}
	login := `{"token": "` + s.tokens[node.RightOperate] + `"}`
	require.Equal(t, http.StatusForbidden, s.send(http.MethodPost, "/v1/session", login).status)
	require.Equal(t, http.StatusUnauthorized, s.send(http.MethodPost, "/v1/session", `{"token": "x"}`, changeHeader, "1").status)
	require.Equal(t, http.StatusBadRequest, s.send(http.MethodPost, "/v1/session", strings.Repeat("x", loginMax+1), changeHeader, "1").status)
	got := s.send(http.MethodPost, "/v1/session", login, changeHeader, "1")
	require.Equal(t, http.StatusOK, got.status)
	set := got.header.Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "Max-Age=43200", "Path=/"} {
		require.Contains(t, set, part)
	}
	pair, _, _ := strings.Cut(set, ";")
	require.Equal(t, http.StatusOK, s.send(http.MethodGet, "/v1/whoami", "", "Cookie", pair).status)
	order := "/v1/nodes/w/drain"
	got = s.send(http.MethodPost, order, "", "Cookie", pair)
	require.Equal(t, http.StatusForbidden, got.status)
	require.Equal(t, "forgery", got.fault(t).Code)
	s.answer(message.KindDrainRequest, func(node.Message) node.Message { return &message.DrainAck{Node: "w"} })
	require.Equal(t, http.StatusAccepted, s.send(http.MethodPost, order, "", "Cookie", pair, changeHeader, "1").status)
	require.Contains(t, s.send(http.MethodDelete, "/v1/session", "").header.Get("Set-Cookie"), "Max-Age=0")
	require.NotContains(t, s.log.String(), s.tokens[node.RightOperate])
}

// TestFlood: connections that say nothing, or nonsense, take no place of a caller that has one, and no question to the gates.
func TestFlood(t *testing.T) {
	s := start(t)
	var all []net.Conn
	for i := range connectionsMax - 8 {
		c, err := net.Dial("tcp", s.api.Addr())
		require.NoError(t, err)
		all = append(all, c)
		_, err = c.Write([]byte([]string{"", "GET / HTTP/1.1\r\n", "\x16\x03\x01\x00\xff", "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n"}[i%4]))
		require.NoError(t, err)
	}
	require.Equal(t, http.StatusOK, s.call(node.RightView, http.MethodGet, "/v1/whoami", "").status)
	for _, c := range all {
		require.NoError(t, c.Close())
	}
	require.Empty(t, s.gates.asked)

	fill(&s.api.load.requests, requestsMax)
	got := s.call(node.RightView, http.MethodGet, "/v1/whoami", "")
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Equal(t, "30", got.header.Get("Retry-After"))
	fill(&s.api.load.requests, 0)
}

// TestHTTPS: the certificate of the files, and after a change the new one.
func TestHTTPS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	write := func(serial int64) {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		of := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
		der, err := x509.CreateCertificate(rand.Reader, of, of, &private.PublicKey, private)
		require.NoError(t, err)
		secret, err := x509.MarshalECPrivateKey(private)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
		require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600))
	}
	write(1)
	s := start(t, func(c *Config) { c.Cert, c.Key = cert, key })
	serial := func() int64 {
		c, err := tls.Dial("tcp", s.api.Addr(), &tls.Config{InsecureSkipVerify: true})
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	require.Equal(t, int64(1), serial())
	write(2)
	require.Eventually(t, func() bool { return serial() == 2 }, 30*time.Second, 100*time.Millisecond)
	_, err := Serve(Config{Listen: "127.0.0.1:0", Cert: "none", Key: key, Logger: slog.New(slog.DiscardHandler)})
	require.ErrorContains(t, err, "correct --api-cert and --api-key")
}
