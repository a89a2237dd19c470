package certs

import (
	"crypto/x509"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hyperscale/core/node"
)

// Scheme is that of the URIs which hold claims.
const Scheme = "hyperscale"

// subjectMax bounds the common name of a client, the owner of its jobs.
const subjectMax = 128

// Identity is what a node says of itself in its Hello.
type Identity struct {
	Role        node.Role
	Cluster     string
	Environment string
	Datacenter  string // of managers and workers
	Node        string
}

// Claims are what a certificate says of its holder. A list with several values allows each.
type Claims struct {
	Subject                                           string
	Roles, Clusters, Environments, Datacenters, Nodes []string
}

// claimsOf reads the claims of a certificate. Names that a newer version added mean nothing.
func claimsOf(c *x509.Certificate) Claims {
	claims := Claims{Subject: c.Subject.CommonName}
	lists := map[string]*[]string{
		"role": &claims.Roles, "cluster": &claims.Clusters, "env": &claims.Environments, "dc": &claims.Datacenters, "node": &claims.Nodes,
	}
	for _, u := range c.URIs {
		if list := lists[u.Host]; u.Scheme == Scheme && list != nil {
			*list = append(*list, strings.TrimPrefix(u.Path, "/"))
		}
	}
	return claims
}

// Right is the highest that a client's certificate claims. One that says client alone may view.
func (c *Claims) Right() node.Right {
	for _, r := range []node.Right{node.RightOperate, node.RightSubmit} {
		if slices.Contains(c.Roles, r.String()) {
			return r
		}
	}
	return node.RightView
}

// Grant is what the certificate gives a peer that fits it.
func (c *Claims) Grant(i *Identity) node.Grant {
	g := node.Grant{Subject: c.Subject, Datacenter: i.Datacenter}
	if i.Role == node.RoleClient {
		g.Right = c.Right()
	}
	return g
}

// clientRoles are the claims of which a client has one.
var clientRoles = []string{
	node.RightOperate.String(), node.RightSubmit.String(), node.RightView.String(), node.RoleClient.String(),
}

// Fits compares an identity with the claims, and returns the first difference: what the
// identity is, and what the certificate says.
func (c *Claims) Fits(i *Identity) *Mismatch {
	roles := []string{i.Role.String()}
	if i.Role == node.RoleClient {
		roles = clientRoles
	}
	stands := i.Role == node.RoleManager || i.Role == node.RoleWorker
	switch {
	case !slices.ContainsFunc(roles, func(r string) bool { return slices.Contains(c.Roles, r) }):
		return differs(Role, "role", i.Role.String(), c.Roles, "give it a certificate with "+uris("role", roles))
	case !slices.Contains(c.Clusters, i.Cluster):
		return differs(Cluster, "cluster", i.Cluster, c.Clusters, "correct --cluster, or give it a certificate with "+uris("cluster", []string{i.Cluster}))
	case !slices.Contains(c.Environments, i.Environment):
		return differs(Environment, "environment", i.Environment, c.Environments, "correct --environment, or give it a certificate with "+uris("env", []string{i.Environment}))
	case stands && !slices.Contains(c.Datacenters, i.Datacenter):
		return differs(Datacenter, "datacenter", i.Datacenter, c.Datacenters, "correct --datacenter, or give it a certificate with "+uris("dc", []string{i.Datacenter}))
	case len(c.Nodes) > 0 && !slices.Contains(c.Nodes, i.Node):
		return differs(Node, "node", i.Node, c.Nodes, "correct --id, or give it a certificate with "+uris("node", []string{i.Node}))
	case i.Role == node.RoleClient && (len(c.Subject) > subjectMax || c.Subject == "" && c.Right() == node.RightSubmit):
		return &Mismatch{Reason: Subject, Field: "subject", Got: c.Subject, Want: fmt.Sprintf("a common name of 1 to %d bytes, the owner of its jobs", subjectMax),
			Remedy: "give the client a certificate with such a common name"}
	}
	return nil
}

// differs says that an identity is not the claimed one.
func differs(why Reason, field, got string, claimed []string, remedy string) *Mismatch {
	want := "none, as its certificate claims none"
	if len(claimed) > 0 {
		quoted := make([]string, len(claimed))
		for i, v := range claimed {
			quoted[i] = strconv.Quote(v)
		}
		want = strings.Join(quoted, " or ") + ", as its certificate claims"
	}
	return &Mismatch{Reason: why, Field: field, Got: got, Want: want, Remedy: remedy}
}

// uris lists claims as a certificate has them.
func uris(kind string, values []string) string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = Scheme + "://" + kind + "/" + v
	}
	return strings.Join(all, " or ")
}
