package resolve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
)

// Cluster is what records say of a service whose host is no server itself.
type Cluster struct {
	Record string // the name of the SRV records, which have its servers
	Answer        // to the question for them
	Text   string // of the host's TXT record; empty: it has none
}

// parentParts is how many parts a name has at least whose parent domain is no public one.
const parentParts = 3

// Cluster asks for the servers of a service, as "mongodb", and for the TXT record beside them. A server whose name does
// not end with the host's parent domain is a stranger: the cluster has none then.
func (r *Resolver) Cluster(ctx context.Context, service, host string) (c Cluster, err error) {
	c.Record = fmt.Sprintf("_%s._tcp.%s", service, host)
	if c.Answer, err = r.Services(ctx, c.Record+"."); err != nil { // no search: the name is whole
		return c, fmt.Errorf("resolve the SRV record %q: %w", c.Record, err)
	}
	_, parent, _ := strings.Cut(host, ".")
	for _, s := range c.Services {
		if strings.Count(host, ".") < parentParts-1 || !strings.HasSuffix(strings.ToLower(s.Target), "."+strings.ToLower(parent)) {
			return c, &net.DNSError{Name: c.Record, Err: fmt.Sprintf("the SRV record names %s, which is not below %s: another one may have written it", s.Target, parent)}
		}
	}
	c.Text, err = r.text(ctx, host)
	return c, err
}

// text returns what the TXT record of a service says.
func (r *Resolver) text(ctx context.Context, host string) (string, error) {
	answer, err := r.Texts(ctx, host+".")
	var none *net.DNSError
	switch {
	case errors.As(err, &none) && none.IsNotFound:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("resolve the TXT record %q: %w", host, err)
	case len(answer.Texts) > 1:
		return "", &net.DNSError{Name: host, Err: fmt.Sprintf("the name has %d TXT records, and a service has one", len(answer.Texts))}
	}
	return answer.Texts[0], nil
}
