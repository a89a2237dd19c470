package doctor

import (
	"errors"
	"time"

	"hyperscale/cmd/hyperscale/internal/operate"
	"hyperscale/core/node"
	"hyperscale/runtime/certs"
	"hyperscale/runtime/config"
	"hyperscale/runtime/seal"
	"hyperscale/runtime/transport"
)

// trust is what a node knows others by.
type trust struct {
	ring  *seal.Ring   // nil: nothing is sealed
	store *certs.Store // nil: no certificates
}

// settings looks at the configuration and the files that it names. No trust: one of them is of no use.
func (d *doctor) settings(unfit error) (all []Finding, t *trust) {
	const check = "config"
	if unfit == nil {
		bare := d.c // its secret and certificate have findings of their own
		bare.Trust = config.Trust{}
		unfit = operate.Check(bare, false)
	}
	if unfit != nil {
		for _, fault := range lines(unfit) {
			all = append(all, fail(check, d.c.Role.String(), "correct the setting", "%s", fault))
		}
	} else {
		all = append(all, ok(check, d.c.ID, "a %s of cluster %s, %s", d.c.Role, d.c.Cluster, d.c.Environment))
	}
	for _, w := range d.c.Warnings() {
		all = append(all, warn(check, d.c.ID, "or accept it", "%s", w))
	}
	t = &trust{}
	finding, err := d.secret(t)
	all = append(all, finding...)
	finding, unread := d.certificate(t)
	all = append(all, finding...)
	if err = errors.Join(err, unread); err != nil {
		return all, nil
	}
	return all, t
}

func (d *doctor) secret(t *trust) ([]Finding, error) {
	const check = "secret"
	path := d.c.ClusterSecret
	if path == "" {
		return nil, nil // a warning of the configuration says what that means
	}
	secrets, err := seal.OpenFile(path).Read()
	if err != nil {
		return []Finding{fail(check, path, "correct the file, or --cluster-secret", "%s", err)}, err
	}
	t.ring = seal.NewRing(transport.Scope(d.c.Cluster, d.c.Environment), secrets)
	return []Finding{ok(check, path, "seals with %s, opens %d", t.ring.IDs()[0], len(secrets))}, nil
}

func (d *doctor) certificate(t *trust) ([]Finding, error) {
	const check, renew = "certificate", "renew --tls-cert and --tls-key"
	files := d.c.Certs()
	if !files.Given() {
		return nil, nil
	}
	self := certs.Identity{Role: d.c.Role, Cluster: d.c.Cluster, Environment: d.c.Environment, Datacenter: d.c.Datacenter, Node: d.c.ID}
	store, err := certs.Open(files, self, d.machine.now)
	if err != nil {
		return []Finding{fail(check, files.Cert, renew, "%s", err)}, err
	}
	t.store = store
	until := store.Until().UTC().Format(time.RFC3339)
	if store.Left() < store.Soon() {
		return []Finding{warn(check, files.Cert, renew, "ends in %s, at %s", store.Left().Round(time.Hour), until)}, nil
	}
	return []Finding{ok(check, files.Cert, "valid until %s", until)}, nil
}

// self is the node as it says Hello; its incarnation is one that no disk has.
func (d *doctor) self() node.Peer {
	return node.Peer{ID: node.ID(d.c.ID), Incarnation: 1 << 62, Role: d.c.Role}
}
