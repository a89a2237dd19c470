package api

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/api/frames"
	"hyperscale/runtime/certs"
)

// authority makes certificates of a cluster in a folder.
type authority struct {
	t   *testing.T
	dir string
	*certs.Issuer
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	of, err := certs.NewIssuer("an authority", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	require.NoError(t, err)
	return authority{t, t.TempDir(), of}
}

// issue writes a certificate and its key, and returns their paths.
func (a authority) issue(name, role, cluster string) (cert, key string) {
	a.t.Helper()
	c, k, err := a.Issue(&certs.Request{Name: name, Role: role, Cluster: cluster, Environment: "e", From: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour)})
	require.NoError(a.t, err)
	cert, key = filepath.Join(a.dir, name+".crt"), filepath.Join(a.dir, name+".key")
	require.NoError(a.t, os.WriteFile(cert, c, 0o600))
	require.NoError(a.t, os.WriteFile(key, k, 0o600))
	return cert, key
}

// TestCertificatesAdmit: a client's certificate has its role and its name. Another cluster's, a node's, one of another
// authority, and none are rejected, each with a remedy. A page of another site cannot use it.
func TestCertificatesAdmit(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	root, _, err := ours.PEM()
	require.NoError(t, err)
	ca := filepath.Join(ours.dir, "ca.crt")
	require.NoError(t, os.WriteFile(ca, root, 0o600))
	cert, key := ours.issue("gate", "gate", "c")
	known, err := OpenCertificates(certs.Files{Cert: cert, Key: key, CA: ca}, certs.Identity{Role: node.RoleGate, Cluster: "c", Environment: "e", Node: "gate-1"}, time.Now)
	require.NoError(t, err)
	s := start(t, func(c *Config) { c.Cert, c.Key, c.Certificates = cert, key, known })
	var submitted *message.JobSubmit
	s.answer(message.KindJobSubmit, func(m node.Message) node.Message {
		submitted = m.(*message.JobSubmit)
		return &message.JobAck{Request: anyRequest, Job: message.JobOf(submitted.Key)}
	})
	s.answer(message.KindJobQuery, func(node.Message) node.Message { return runs })
	submit := frame(t, &message.JobSubmit{Request: anyRequest, Key: "k", Program: message.Program{Main: "a.star"}, Plan: message.Plan{Source: "a.star"}})
	query := frame(t, &message.JobQuery{Request: anyRequest, Job: someJob})
	for _, c := range []struct {
		name, role, cluster string
		of                  authority
		body                string
		header              string
		status              int
		says                string
	}{
		{"ci", "submitter", "c", ours, submit, changeHeader, http.StatusOK, ""},
		{"wall", "viewer", "c", ours, query, changeHeader, http.StatusOK, ""},
		{"wall", "viewer", "c", ours, submit, changeHeader, http.StatusForbidden, "cert:wall is a viewer"},
		{"ci", "submitter", "c", ours, submit, "X-Other", http.StatusForbidden, "by a cookie or a certificate needs the header X-Hyperscale"},
		{"ci", "submitter", "other", ours, submit, changeHeader, http.StatusUnauthorized, "the certificate does not fit: "},
		{"gate", "gate", "c", ours, submit, changeHeader, http.StatusUnauthorized, "the certificate does not fit: "},
		{"ci", "submitter", "c", theirs, submit, changeHeader, http.StatusUnauthorized, "the certificate does not fit: "},
		{"", "", "", ours, submit, changeHeader, http.StatusUnauthorized, "neither a token nor a certificate"},
	} {
		submitted = nil
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		if c.name != "" {
			own, private := c.of.issue(c.name, c.role, c.cluster)
			pair, err := tls.LoadX509KeyPair(own, private)
			require.NoError(t, err)
			// What the server says of authorities keeps no hostile caller from sending its own.
			client.Transport.(*http.Transport).TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		}
		r, err := http.NewRequest(http.MethodPost, "https://"+s.api.Addr()+"/v1/ask", strings.NewReader(c.body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", frames.Type)
		r.Header.Set(c.header, "1")
		w, err := client.Do(r)
		require.NoError(t, err, "%+v", c)
		b, err := io.ReadAll(w.Body)
		require.NoError(t, err)
		require.NoError(t, w.Body.Close())
		require.Equal(t, c.status, w.StatusCode, "%s of %s in %s: %s", c.role, c.name, c.cluster, b)
		require.Contains(t, string(b), c.says)
		require.Equal(t, c.status == http.StatusOK && c.role == "submitter", submitted != nil)
		if submitted != nil {
			require.Equal(t, "cert:ci", message.CallerOf(submitted.Key), "no token shares its keys")
		}
	}
}

// TestAuthoritiesChange: callers are judged by the authorities that the files have now, within a second.
func TestAuthoritiesChange(t *testing.T) {
	before, now := newAuthority(t), newAuthority(t)
	dir := t.TempDir()
	files := certs.Files{Cert: filepath.Join(dir, "gate.crt"), Key: filepath.Join(dir, "gate.key"), CA: filepath.Join(dir, "ca.crt")}
	has := func(a authority) {
		root, _, err := a.PEM()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(files.CA, root, 0o600))
		cert, key := a.issue("gate", "gate", "c")
		require.NoError(t, os.Rename(cert, files.Cert))
		require.NoError(t, os.Rename(key, files.Key))
	}
	state := func(a authority) *tls.ConnectionState {
		pair, err := tls.LoadX509KeyPair(a.issue("ci", "submitter", "c"))
		require.NoError(t, err)
		return &tls.ConnectionState{PeerCertificates: []*x509.Certificate{pair.Leaf}}
	}
	has(before)
	known, err := OpenCertificates(files, certs.Identity{Role: node.RoleGate, Cluster: "c", Environment: "e", Node: "gate-1"}, time.Now)
	require.NoError(t, err)
	known.looked = time.Now().Add(time.Hour)
	old, fresh := state(before), state(now)
	who, err := known.find(old)
	require.NoError(t, err)
	require.Equal(t, "cert:ci", who.Name)
	has(now)
	_, err = known.find(fresh)
	require.Error(t, err, "the files were read less than a second ago")
	known.looked = time.Now().Add(-lookEvery)
	_, err = known.find(fresh)
	require.NoError(t, err)
	_, err = known.find(old)
	require.Error(t, err, "of an authority that was taken out")
}
