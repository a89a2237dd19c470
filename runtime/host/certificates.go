package host

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"hyperscale/core/node"
	"hyperscale/runtime/certs"
	"hyperscale/runtime/transport"
)

// certificatesEvery is how often a node looks whether its files of certificates changed.
const certificatesEvery = time.Second

// certificates are those of the node, and what it has warned of.
type certificates struct {
	store  *certs.Store
	warned time.Duration // the last span before the end that it has warned at; zero: none
	of     time.Time     // the end that it has warned of
}

// warnBefore are the spans before a certificate's end at which a node warns, the longest first: of one that lives 42 days
// or more, 14 days and a day.
func warnBefore(soon time.Duration) [2]time.Duration { return [...]time.Duration{soon, soon / 14} }

// openCertificates reads the files; it returns nil if there are none.
func openCertificates(o *Options) (*certificates, error) {
	if !o.Certs.Given() {
		return nil, nil
	}
	store, err := certs.Open(o.Certs, certs.Identity{
		Role: o.Role, Cluster: o.Cluster, Environment: o.Environment, Datacenter: o.Datacenter, Node: string(o.ID),
	}, time.Now)
	if err != nil {
		return nil, err
	}
	return &certificates{store: store}, nil
}

// CheckFiles returns why the secrets and certificates of a node cannot be used. It keeps nothing open.
func (o Options) CheckFiles() error {
	_, unsealed := openSecrets(&o)
	_, untrusted := openCertificates(&o)
	return errors.Join(unsealed, untrusted)
}

// CheckNames returns why the names and the resolver of a node cannot be used.
func (o Options) CheckNames() error {
	_, unresolved := o.resolver()
	address := cmp.Or(o.Advertise, o.Listen)
	return errors.Join(unresolved, transport.CheckNames(node.Peer{ID: o.ID, Addr: node.Addr(address)}))
}

// held are those of the transport: nil without files.
func (c *certificates) held() *certs.Store {
	if c == nil {
		return nil
	}
	return c.store
}

// watch reads the files again whenever they change, and warns before a certificate ends, until the
// node does.
func (c *certificates) watch(logger *slog.Logger, done <-chan struct{}) {
	look := time.NewTicker(certificatesEvery)
	defer look.Stop()
	for {
		c.warn(logger)
		select {
		case <-done:
			return
		case <-look.C:
		}
		if c.store.Changed() {
			c.read(logger)
		}
	}
}

// read takes what stands in the files now. Files that cannot be read, or that do not fit, change
// nothing.
func (c *certificates) read(logger *slog.Logger) {
	if err := c.store.Read(); err != nil {
		logger.Warn("the certificates changed and are of no use: the node goes on with those before", "error", err.Error())
		return
	}
	logger.Info("the certificates changed", "valid_until", c.store.Until().UTC().Format(time.RFC3339))
}

// warn tells once at each span that the certificate ends, and once that it has ended.
func (c *certificates) warn(logger *slog.Logger) {
	until, left := c.store.Until(), c.store.Left()
	if !until.Equal(c.of) {
		c.of, c.warned = until, 0
	}
	span := time.Duration(0)
	for _, s := range warnBefore(c.store.Soon()) {
		if left <= s {
			span = s
		}
	}
	if left <= 0 {
		span = -1
	}
	if span == 0 || span == c.warned {
		return
	}
	c.warned = span
	at := until.UTC().Format(time.RFC3339)
	if span < 0 {
		logger.Error("the certificate has expired: peers reject new streams; renew --tls-cert and --tls-key", "valid_until", at)
		return
	}
	logger.Warn("the certificate expires soon: renew --tls-cert and --tls-key", "valid_until", at, "left", left.Round(time.Minute))
}
