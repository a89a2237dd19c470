package operate

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/client"
	"hyperscale/core/discovery"
	"hyperscale/core/node"
	"hyperscale/runtime/api"
	"hyperscale/runtime/api/compile"
	"hyperscale/runtime/api/tokens"
	"hyperscale/runtime/certs"
	"hyperscale/runtime/config"
	"hyperscale/runtime/host"
)

// Bounds of the client inside the HTTP API.
const (
	frontAsk   = 20 * time.Second // an answer of any gate
	frontReach = 10 * time.Second // a stream to any gate
	frontRetry = 3 * time.Second  // for one gate's answer, before it asks another
	frontStop  = 2 * time.Second  // for answers in progress
)

// front is a gate's HTTP API, with the client inside. The nil front is none.
type front struct {
	server *api.Server
	client *host.Node
}

// openTokens reads the tokens of a gate's HTTP API; it returns nil if its configuration has none. A gate that starts again keeps
// them: a fault that the file has by then changes nothing.
func openTokens(c *config.Node, logger *slog.Logger) (*tokens.File, error) {
	if c.API == "" {
		return nil, nil
	}
	return tokens.Open(c.APITokens, time.Now, func(err error) {
		logger.Warn("the tokens of the API cannot be read again, the old ones stay", "node", c.ID, "error", err.Error())
	})
}

// openFront starts the HTTP API of a gate that runs; it returns nil if its configuration has none.
func openFront(c *config.Node, n *host.Node, known *tokens.File, logger *slog.Logger) (*front, error) {
	if c.API == "" {
		return nil, nil
	}
	logger = logger.With("node", c.ID)
	compiler, err := compile.Itself()
	if err != nil {
		return nil, err
	}
	callers, err := certificatesOf(c)
	if err != nil {
		return nil, err
	}
	f := new(front)
	if f.client, err = host.Start(frontOptions(c, n.Addr(), logger)); err != nil {
		return nil, err
	}
	f.server, err = api.Serve(api.Config{
		Listen: c.API, Cert: c.APICert, Key: c.APIKey, Hosts: append([]string{string(n.Addr())}, c.APIHosts...),
		Tokens: known, Certificates: callers, Client: f.client, Logger: logger, Metrics: n.Registry(), Compiler: compiler, Clear: c.Exposed() && !c.Certs().Given(),
		Gate: c.ID, Outputs: n.Sinks, Alerts: n.Alerts,
	})
	if err != nil {
		f.client.Kill()
		return nil, err
	}
	return f, nil
}

// certificatesOf admits clients of the cluster by their certificates, where nodes have some and the API speaks HTTPS; nil: it does not.
func certificatesOf(c *config.Node) (*api.Certificates, error) {
	if !c.Certs().Given() || c.APICert == "" {
		return nil, nil
	}
	return api.OpenCertificates(c.Certs(), certs.Identity{Role: c.Role, Cluster: c.Cluster, Environment: c.Environment, Datacenter: c.Datacenter, Node: c.ID}, time.Now)
}

// frontOptions are those of the client: it asks this gate first, and follows the owners of jobs.
func frontOptions(c *config.Node, self node.Addr, logger *slog.Logger) host.Options {
	ask := client.Default()
	ask.Gates = append([]node.Addr{self}, slices.DeleteFunc(c.Set(), func(a node.Addr) bool { return a == self })...)
	ask.AskTimeout, ask.ReachTimeout, ask.AskRetry, ask.Explore = frontAsk, frontReach, frontRetry, discovery.DefaultPool().Explore
	return host.Options{
		Role: node.RoleClient, ID: node.ID(c.ID + "-api"), Cluster: c.Cluster, Environment: c.Environment, Machine: client.New(ask),
		Logger: command.Lower(logger), SecretFile: c.ClusterSecret, Certs: c.ClientCerts(), Resolver: c.Resolver,
	}
}

// addr is where the API listens: empty if there is none.
func (f *front) addr() string {
	if f == nil {
		return ""
	}
	return f.server.Addr()
}

// close ends the API, then the client inside.
func (f *front) close() {
	if f == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), frontStop)
	defer cancel()
	f.server.Close(ctx)
	_ = f.client.Stop(ctx) // it ends one way or the other, and nothing depends on how
}
