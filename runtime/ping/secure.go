package ping

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"sync"
	"time"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/postgres"
)

// Secured is what TLS has agreed on.
type Secured struct {
	Version     string        `json:"version"`
	Cipher      string        `json:"cipher"`
	Curve       string        `json:"curve"`
	ALPN        string        `json:"alpn"` // the protocol that the server chose; empty: none
	ServerName  string        `json:"server_name"`
	Verified    bool          `json:"verified"`
	Refusal     string        `json:"refusal"` // why the certificate is not to be trusted
	Chain       []Certificate `json:"chain"`   // as the server sent it
	StapledOCSP bool          `json:"stapled_ocsp"`
	Resumes     *bool         `json:"resumes"`              // a second connection took up the session; null: it was not tried
	EarlyData   *bool         `json:"early_data,omitempty"` // and takes requests ahead of its handshake (0-RTT); null: it was not tried
}

// Certificate is one of the chain.
type Certificate struct {
	Subject   string    `json:"subject"`
	Issuer    string    `json:"issuer"`
	Names     []string  `json:"names"`
	NotBefore time.Time `json:"not_before"`
	NotAfter  time.Time `json:"not_after"`
	DaysLeft  int       `json:"days_left"`
	Key       string    `json:"key"`
}

// sessions keeps the session that a server offers for resumption.
type sessions struct {
	mu    sync.Mutex
	state *tls.ClientSessionState
}

var _ tls.ClientSessionCache = (*sessions)(nil)

func newSessions() *sessions { return &sessions{} }

// Get implements tls.ClientSessionCache.
func (s *sessions) Get(string) (*tls.ClientSessionState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.state != nil
}

// Put stores a ticket.
func (s *sessions) Put(_ string, state *tls.ClientSessionState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

// Secures reports whether a ping has TLS, as far as the client decides.
func (cfg *Config) Secures() bool {
	g := &cfg.Greeted
	return strings.HasPrefix(cfg.Request.URL, "https:") || g.NATS != nil && g.NATS.TLS || g.Postgres != nil && g.Postgres.TLS || g.MySQL != nil && g.MySQL.TLS ||
		g.SMTP != nil && g.SMTP.StartTLS || g.FTP != nil && g.FTP.Explicit
}

func (cfg *Config) tls(call *http1.Call, s *sessions) *tls.Config {
	out := &tls.Config{} //nolint:gosec // the library's least version shows what a server has
	if cfg.TLS != nil {
		out = cfg.TLS.Clone()
	}
	if cfg.ServerName != "" {
		out.ServerName = cfg.ServerName
	}
	if out.ServerName == "" {
		out.ServerName = call.Host
	}
	out.ClientSessionCache, out.InsecureSkipVerify = s, true // it is verified below, so that it can be shown
	if cfg.Postgres != nil && cfg.Postgres.Direct {
		out.NextProtos = []string{postgres.ALPN}
	} else if cfg.HTTP == HTTP2 {
		out.NextProtos = []string{"h2"}
	} else if cfg.HTTP == HTTP3 {
		out.NextProtos = []string{"h3"}
	} else if cfg.Greeted == (Greeted{}) && cfg.Raw == nil {
		out.NextProtos = []string{"http/1.1"}
	}
	return out
}

// secure makes the handshake. The certificate is judged behind it: one that is refused is
// shown too, and then nothing is sent.
func (r *Report) secure(ctx context.Context, tcp net.Conn, cfg Config, call *http1.Call, s *sessions) (net.Conn, error) {
	c := tls.Client(tcp, cfg.tls(call, s))
	if err := c.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	state := c.ConnectionState()
	if err := r.judge(&state, cfg, call); err != nil {
		return nil, err
	}
	if cfg.Postgres != nil && cfg.Postgres.Direct {
		return c, postgres.Chosen(state.NegotiatedProtocol)
	}
	if cfg.HTTP == HTTP2 && state.NegotiatedProtocol != "h2" {
		return nil, &http1.Error{Kind: http1.KindTLS, Detail: "the server does not choose HTTP/2 (ALPN h2): ping it with http"}
	}
	return c, nil
}

// judge describes a handshake. The error is that of a certificate that is not to be trusted.
func (r *Report) judge(state *tls.ConnectionState, cfg Config, call *http1.Call) error {
	r.TLS = describe(state)
	if r.TLS.ServerName == "" {
		r.TLS.ServerName = call.Host
	}
	err := verify(state, cfg.tls(call, nil))
	if r.TLS.Verified = err == nil; err == nil {
		return nil
	}
	r.TLS.Refusal = err.Error()
	if cfg.Insecure {
		return nil
	}
	return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
}

func verify(state *tls.ConnectionState, c *tls.Config) error {
	pool := x509.NewCertPool()
	for _, c := range state.PeerCertificates[1:] {
		pool.AddCert(c)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{DNSName: c.ServerName, Intermediates: pool, Roots: c.RootCAs})
	return err
}

func describe(state *tls.ConnectionState) *Secured {
	s := &Secured{
		Version: tls.VersionName(state.Version), Cipher: tls.CipherSuiteName(state.CipherSuite), ALPN: state.NegotiatedProtocol,
		ServerName: state.ServerName, StapledOCSP: len(state.OCSPResponse) > 0, Chain: []Certificate{},
	}
	if state.CurveID != 0 {
		s.Curve = state.CurveID.String()
	}
	for _, c := range state.PeerCertificates {
		names := append([]string{}, c.DNSNames...)
		for _, ip := range c.IPAddresses {
			names = append(names, ip.String())
		}
		s.Chain = append(s.Chain, Certificate{
			Subject: c.Subject.String(), Issuer: c.Issuer.String(), Names: names, NotBefore: c.NotBefore, NotAfter: c.NotAfter,
			DaysLeft: int(time.Until(c.NotAfter) / (24 * time.Hour)), Key: c.PublicKeyAlgorithm.String(),
		})
	}
	return s
}

// resumes makes a second connection with the session of the first.
func resumes(ctx context.Context, address string, cfg Config, call *http1.Call, s *sessions) *bool {
	tcp, err := (&net.Dialer{KeepAlive: -1}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil
	}
	defer tcp.Close()
	c := tls.Client(tcp, cfg.tls(call, s))
	if err := c.HandshakeContext(ctx); err != nil {
		return nil
	}
	did := c.ConnectionState().DidResume
	_ = c.Close() // it sends close_notify, and does not wait for the answer
	return &did
}
